"""The page allocator's zones, batches and reclaim, as Linux 3.12 to 4.8 had them.

Read `zones` for the state and its constants, `vmstat` for the counter that a CPU defers,
`page_alloc` for the policy itself, then `lru` and `vmscan` for what frees pages, and `filemap` for
the page cache that takes them. `replay` makes the walks of a kernel's own log. Functions have the
kernel's names and its integer arithmetic.
"""
