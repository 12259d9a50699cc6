"""Notebooks rerun, grids swept, and how far a run is."""
