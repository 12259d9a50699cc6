"""Which mutations `make mutants` tests."""

import pytest

from lorelab.experiments import designs
from mutants import __main__ as mutants
from mutants import sample as samples
from mutants.mutate import KINDS, mutations

MODEL = """from numbers import ONE, ZERO
LIMIT = 9
def f{n}(x, cpu):
    x[cpu] += min(x[cpu], {n}) if x.late and x.max() < LIMIT else {n} - 1
    note(x, cpu)
def g{n}(x):
    return x
"""


def forget():
    """What was read of the files."""
    for kept in (samples._every, samples._families, samples._sources, samples.readers):
        kept.cache_clear()


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A design with ten functions that have lines of each kind but two, in two rooms."""
    for module in (mutants, samples):
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "PACKAGE", tmp_path / "lib" / "lorelab")
    forget()
    design = tmp_path / "lib" / "lorelab" / "swap"
    files = [design / f"{room}/{n}.py" for room in ("model", "thread") for n in range(5)]
    for n, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MODEL.format(n=n))
    yield files
    forget()


def drawn(files, size, seed=1):
    """File, function, kind, and the change of each of a sample."""
    forget()
    found = mutants.sample(files, size, seed)
    return {(file, one.function, one.kind, one.before, one.after) for file, one in found}


def test_a_sample_stays_where_the_files_do(library):
    first = drawn(library, 40)
    assert len(first) == 40
    assert first == drawn(library, 40)
    assert first != drawn(library, 40, seed=2)
    text = library[0].read_text()
    library[0].write_text("# Moved by a line.\n" + text.replace("note(x, cpu)", "note(x, cpu, 7)"))
    assert len(first & drawn(library, 40)) >= 36


def test_no_function_of_a_model_is_without_a_mutation(library):
    """As soon as the sample has room for all, and that one is of the first kinds."""
    found = drawn(library, 30)
    kinds = {}
    for file, function, kind, *_ in sorted(found):
        kinds.setdefault((file, function), set()).add(kind)
    model = [(file, f"{name}{n}") for n, file in enumerate(library[:5]) for name in "fg"]
    assert set(model) <= set(kinds)
    assert all("comparison" in kinds[one] for one in model if one[1].startswith("f"))


def test_each_kind_that_there_is_is_in_a_sample(library):
    """Before any function has a second."""
    every = {kind for _, _, kind, *_ in drawn(library, 10_000)}
    assert every == set(KINDS) - {"other", "constant", "index"}
    assert {kind for _, _, kind, *_ in drawn(library, len(every))} == every


@pytest.mark.parametrize("design", designs())
def test_the_default_sample_has_room_for_every_function_of_a_model(design):
    files = [file for file in mutants.modules([]) if samples.design_of(file) == design]
    functions = {
        (file, one.function)
        for file in files
        if "model" in file.parts
        for one in mutations(file.read_text())
        if not one.function.isupper()
    }
    assert 0 < len(functions) <= mutants.arguments([]).sample - len(KINDS)


def test_a_list_finds_its_mutations_again(library):
    """Where lines above them came, but not where their own have changed."""
    pairs = mutants.sample(library, 60, 1)
    table = samples.listed(pairs)
    found, lost = samples.found(table)
    assert (found, lost) == (pairs, 0)
    library[0].write_text("\n\n" + library[0].read_text())
    library[1].write_text("def f1(x):\n    pass\n")
    forget()
    found, lost = samples.found(table)
    assert lost == (table["file"] == str(library[1].relative_to(samples.ROOT))).sum() > 0
    assert len(found) == 60 - lost


def test_a_constant_is_tested_by_what_reads_it(library):
    """Also by way of another constant, and as an attribute of its module."""
    library[0].write_text("A = 1\nB = A + 1\nC = 2\n")
    library[1].write_text("class K:\n    def f(self):\n        return zero.B\n")
    library[2].write_text("from zero import C\ndef g():\n    return C\n")
    forget()
    assert samples.runs(library[0], "A") == {f"{library[1]}:K.f"}
    assert samples.runs(library[0], "C") == {f"{library[2]}:g"}
    assert samples.runs(library[2], "g") == {f"{library[2]}:g"}
