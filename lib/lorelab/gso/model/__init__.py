"""Zero-copy segmentation as the kernel does it, and the other ways.

Read `layout` and `structs` for what a packet is made of, then `lifetimes`: one packet, every order
of events, and `invariants`: what those must not break.
"""
