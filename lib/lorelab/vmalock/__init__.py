"""Per-VMA locks: page faults that do without the lock of the whole address space."""
