"""The kernel laboratory: build a kernel and a guest, boot them, bring results back, keep them.

`build` makes the kernel, `guest` the root file system, `boot` runs a job in a virtual machine,
`protocol` reads what the guest says, `records` keeps it with its provenance. Nothing here knows
a design; a design's `kernel/` asks this package to run its workload.
"""
