"""What drives the zones: files written and read as tiobench does, and allocations alone."""

PAGES_A_MIB = 256
