"""Tests of the library, its notebooks and the book."""

import os

from lorelab.experiments import designs
from lorelab.judging import threads

MAY_SKIP = os.environ.get("LORELAB_SKIP") != "never"
"""Whether a test that lacks something is skipped; `.ci/run` says never."""

WEIGHED = tuple(design for design in designs() if len(threads.figures(design)))
"""Designs of whose thread somebody has confirmed a figure: all that were not just laid out."""
