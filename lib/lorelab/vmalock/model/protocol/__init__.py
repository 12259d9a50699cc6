"""The protocol of per-VMA locks, step by step, for a search through every interleaving.

Read `reader` first, which is a page fault of each version, statement by statement; then `writers`,
which are the operations that hold mmap_lock; `steps`, which says what each step (`ops`) does to the
state; `rules`, which says what must hold; `state`, which is how it all is packed; `successors`,
which lets one thread at a time go on. `configurations` puts them together.
"""
