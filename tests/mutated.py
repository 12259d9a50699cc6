"""A model as plain Python, with one line of it changed: each mutation runs at once."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from lorelab import numerics


class Record:
    """One row of a structured array whose fields are attributes, as numba has it."""

    def __init__(self, row):
        object.__setattr__(self, "row", row)

    def __getattr__(self, name):
        return self.row[name]

    def __setattr__(self, name, value):
        self.row[name] = value

    def __getitem__(self, name):
        return self.row[name]


class Records(np.ndarray):
    """A structured array of such rows."""

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return Record(found) if isinstance(found, np.void) else found


def load(package, files, changes, mutation=None):
    """Modules of a model a second time, without numba.

    `files` are loaded in order, and import one another from `package`; `changes` are texts to
    replace by module, `mutation` is one more: module, old, new. Each old text stands once.
    """
    sys.modules["mutant"] = ModuleType("mutant")
    plain = sys.modules["mutant.numerics"] = ModuleType("mutant.numerics")
    vars(plain).update(vars(numerics))
    plain.forceinline = plain.outline = plain.njit = lambda function: function
    for file in map(Path, files):
        name, text = file.stem, file.read_text()
        wanted = list(changes.get(name, []))
        if mutation is not None and mutation[0] == name:
            wanted.append(mutation[1:])
        for old, new in wanted:
            assert text.count(old) == 1, f"{file.name} has {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        text = text.replace("from lorelab.numerics import", "from mutant.numerics import")
        text = text.replace(f"from {package}", "from mutant")
        mutant = sys.modules[f"mutant.{name}"] = ModuleType(f"mutant.{name}")
        mutant.Records = Records
        setattr(sys.modules["mutant"], name, mutant)
        exec(compile(text, f"mutant of {file.name}", "exec"), mutant.__dict__)
    return sys.modules["mutant"]


def caught(agrees, mutant):
    """Say whether the check fails for a mutant, be it with an error."""
    try:
        return not agrees(mutant)
    except (AssertionError, IndexError):
        return True
