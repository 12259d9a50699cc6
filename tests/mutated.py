"""A model as plain Python, with one line of it changed: each mutation runs at once."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from lorelab import numerics
from mutants.plain import MADE, with_rows

NUMPY = ModuleType("numpy")
"""Of its own for mutants: what makes arrays makes such with the rows that numba has."""
vars(NUMPY).update(vars(np) | {make.__name__: with_rows(make) for make in MADE})


def load(package, files, mutation=None):
    """Modules of a model a second time, without numba.

    `files` are loaded in order, and import one another from `package`; `mutation` is a module, an
    old text, which stands there once, and a new one.
    """
    sys.modules["mutant"] = ModuleType("mutant")
    sys.modules["mutant"].np = NUMPY
    plain = sys.modules["mutant.numerics"] = ModuleType("mutant.numerics")
    vars(plain).update(vars(numerics))
    plain.forceinline = plain.outline = plain.njit = lambda function: function
    for file in map(Path, files):
        name, text = file.stem, file.read_text()
        if mutation is not None and mutation[0] == name:
            _, old, new = mutation
            assert text.count(old) == 1, f"{file.name} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        text = text.replace("import numpy as np", "from mutant import np")
        text = text.replace("from lorelab.numerics import", "from mutant.numerics import")
        text = text.replace(f"from {package}", "from mutant")
        mutant = sys.modules[f"mutant.{name}"] = ModuleType(f"mutant.{name}")
        setattr(sys.modules["mutant"], name, mutant)
        exec(compile(text, f"mutant of {file.name}", "exec"), mutant.__dict__)
    return sys.modules["mutant"]


def caught(agrees, mutant):
    """Say whether the check fails for a mutant, be it with an error."""
    try:
        return not agrees(mutant)
    except (AssertionError, IndexError):
        return True
