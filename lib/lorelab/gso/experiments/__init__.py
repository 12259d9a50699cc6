"""The questions of the zero-copy chapter, a file each."""
