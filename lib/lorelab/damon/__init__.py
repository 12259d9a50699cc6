"""DAMON: access monitoring by sampling one page a region."""

from lorelab.experiments import Experiment

EXPERIMENTS: list[Experiment] = []
