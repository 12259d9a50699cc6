"""Zero-copy segmentation as the kernel does it, and the other ways.

Read `layout` and `structs` for what a packet is made of, then `lifetimes`: one packet, every order
of events, `states`: a state of it in words, and `invariants`: what those must not break.
"""
