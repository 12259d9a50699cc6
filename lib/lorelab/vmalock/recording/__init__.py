"""Traces of the mmap_lock tracepoints, as text of perf, trace-cmd or ftrace: read, reported."""
