"""The experiments of per-VMA locks that a real kernel answers."""
