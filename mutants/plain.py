"""A pytest plugin: compiled code as numba has it, in tests that run without numba.

numba reads a field of a row as `row.field`, and its unsigned integers wrap around in silence.
"""

from functools import wraps

import numpy as np
import pytest

MADE = (np.array, np.zeros, np.empty, np.ones, np.full)


class Row(np.void):
    """A row whose fields are attributes, and come before the methods that numpy gives every row."""

    def __getattribute__(self, name):
        """A field, or what else is of that name."""
        fields = np.void.__getattribute__(self, "dtype").fields or {}
        return self[name] if name in fields else np.void.__getattribute__(self, name)

    def __setattr__(self, name, value):
        """Set a field in its array."""
        self[name] = value

    def __getitem__(self, name):
        """A field; one that is a structure is a row again."""
        found = np.void.__getitem__(self, name)
        return rows(found) if isinstance(found, (np.ndarray, np.void)) else found


class Words(np.ndarray):
    """Words of 64 bits, which swap's `setup` takes for a structure once they are filled."""

    def view(self, *given):
        """The same memory; structures have rows that have attributes."""
        return rows(np.asarray(super().view(*given)))


def rows(array):
    """An array as it is, or one of structures with rows that have attributes."""
    if array.dtype.names is None:
        return np.ndarray.view(array, Words) if array.dtype == np.uint64 else array
    return array.view(np.dtype((Row, array.dtype)))


def with_rows(make):
    """Let a function that makes arrays make such ones."""

    @wraps(make)
    def made(*arguments, **named):
        return rows(make(*arguments, **named))

    return made


def pytest_configure():
    """Before any model is imported."""
    for make in MADE:
        setattr(np, make.__name__, with_rows(make))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Arithmetic of a test and of what it calls."""
    with np.errstate(all="ignore"):
        return (yield)
