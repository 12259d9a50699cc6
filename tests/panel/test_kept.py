"""A module is kept with what it rests on, and a change of any function in it is noticed."""

import base64
import gzip
from pathlib import Path

import numpy as np
import pytest

from lorelab.experiments import designs
from lorelab.numerics import njit
from lorelab.panel import compile, kept, show

LIMIT = 3
ARRAY = np.arange(4)


def test_no_module_is_stale():
    assert kept.stale() == [], "run `make outputs`"


def test_a_panel_is_had_by_any_folder_of_a_design(monkeypatch):
    assert {question.split("/")[0] for question in kept.panels()} == {*designs()}
    monkeypatch.setattr(kept, "_there", lambda question: True)
    assert kept.panels()[-1] == "faultaround/faults" and "faultaround" not in designs()


@pytest.mark.parametrize("question", kept.panels())
def test_modules_are_small_and_as_they_are_kept(question):
    have = kept.kept(question)
    module = gzip.decompress(base64.b64decode(have.packed))
    assert module[:4] == b"\0asm"
    assert module_calls(module) <= compile.OFFERED
    assert len(module) == have.size <= kept.LARGEST


def module_calls(module):
    imports = dict(compile.sections(module))[compile.IMPORT]
    return set(compile.functions(imports))


def test_the_page_has_what_a_module_may_call():
    script = (Path(show.__file__).parent / "panel.js").read_text()
    assert [name for name in compile.OFFERED if f" {name}: " not in script] == []


def test_a_panel_without_its_module_says_so(tmp_path, monkeypatch):
    assert kept.stale(tmp_path) == kept.panels()
    monkeypatch.setattr(kept, "kept", lambda question: None)
    page = show.panel("swap/allocator-test")._repr_mimebundle_()
    assert "is stale" in page["text/html"]
    assert "<script" not in page["text/html"]


@njit
def called(x):
    return x + LIMIT


@njit
def entry(x):
    return called(x) + ARRAY[0]


def changed(monkeypatch, name, value):
    before = kept.rests_on(entry)
    with monkeypatch.context() as patch:
        patch.setattr(f"{__name__}.{name}", value)
        return kept.rests_on(entry) != before


def test_what_changes_a_module(monkeypatch):
    monkeypatch.setattr(called.py_func, "__module__", "lorelab.somewhere")

    def other(x):
        return x - LIMIT

    def same(x):
        """With a docstring."""
        return x + LIMIT  # and a comment

    same.__module__ = other.__module__ = "lorelab.somewhere"
    same.__name__ = "called"
    assert changed(monkeypatch, "LIMIT", 4)
    assert changed(monkeypatch, "ARRAY", np.arange(1, 5))
    assert changed(monkeypatch, "called", njit(other))
    assert not changed(monkeypatch, "LIMIT", 3)


def test_what_nobody_could_notice_is_refused(monkeypatch):
    monkeypatch.setattr(f"{__name__}.LIMIT", {"a": 1})
    monkeypatch.setattr(called.py_func, "__module__", "lorelab.somewhere")
    with pytest.raises(TypeError, match="nobody would notice"):
        kept.rests_on(entry)


def test_a_module_rests_on_what_compiles_it(monkeypatch):
    before = kept.rests_on(entry)
    assert "def linked" in kept._compiler() and "An object file as a module" not in kept._compiler()
    monkeypatch.setattr(kept, "_compiler", lambda: "another")
    assert kept.rests_on(entry) != before
