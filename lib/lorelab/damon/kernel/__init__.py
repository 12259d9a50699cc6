"""The questions put to a real kernel: one file each, with `measure()`; `boot` is the machine."""
