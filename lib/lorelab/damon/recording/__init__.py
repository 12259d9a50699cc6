"""Recordings of DAMON in the files of damo, its user-space tool: read, reported, written, made."""
