"""The questions put to DAMON, one file each: `simulate()`, and the views that their pages need."""
