"""How long page faults and writers wait for each other: a discrete-event model.

Read in this order: `state` (what there is), `events` (what happens next), `lines` (what a shared
cache line costs), `sched` (who has a CPU), `rwsem` (the kernel's semaphore), `operation` (how a
thread goes from step to step), `fault` and `writer` (their steps, under each variant), `run` (the
loop), `tally` (its counters).

`protocol` is a room of its own: the locks step by step, for a search of every interleaving.
`replay` has them once more, for the order of steps in a kernel's own log.
"""
