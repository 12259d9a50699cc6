"""Sweeps: an experiment or a notebook at every point of a grid, on Dask, that can be gone on with.

Read `plan` (which points), `journal` (what is finished, on the disk), `points` (what a worker
does), `run` (dealing them out), `page` (the table and its charts), `sensitivity` (which parameters
a result depends on).
"""
