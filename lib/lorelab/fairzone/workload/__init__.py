"""What drives the zones: files written and read as tiobench does, and allocations alone."""
