"""Tests of the library, its notebooks and the book."""

import os
from pathlib import Path

import pytest

from lorelab.experiments import designs
from lorelab.judging import threads

MAY_SKIP = os.environ.get("LORELAB_SKIP") != "never"
"""Whether a test that lacks a package is skipped; `.ci/run`, which installs them, says never."""


def lacking(why: str):
    """Skip a test that lacks a package, or fail it where all are installed."""
    (pytest.skip if MAY_SKIP else pytest.fail)(why)


WEIGHED = tuple(design for design in designs() if len(threads.figures(design)))
"""Designs of whose thread somebody has confirmed a figure: all that were not just laid out."""

ASKED = tuple(
    design
    for design in WEIGHED
    if (Path(__file__).parents[1] / f"notebooks/{design}/questions.ipynb").exists()
)
"""Those with a page of questions to try: whole chapters, more than the first day of one."""
