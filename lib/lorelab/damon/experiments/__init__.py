"""The questions put to DAMON, one file each: `simulate()`."""
