"""The algorithm, function by function under the kernel's names. Read it in this order.

1. `memory.do_fault_around`: the window of a fault (mm/memory.c).
2. `memory.filemap_map_pages`: the pages of a window that can be mapped (mm/filemap.c).
3. `memory.do_read_fault`: a fault.
"""
