"""Recordings of the mmap_lock tracepoints, as `perf script` prints them: read, then report."""
