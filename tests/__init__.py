"""Tests of the library, its notebooks and the book."""

import os

MAY_SKIP = os.environ.get("LORELAB_SKIP") != "never"
"""Whether a test that lacks something is skipped; `.ci/run` says never."""
