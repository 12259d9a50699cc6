"""A field of the runs of faulters.c is known to each guest program that runs it, or is refused."""

import ast
import re

import pytest

from lorelab.errors import BadInput
from lorelab.lab import cache
from lorelab.params import parse
from lorelab.vmalock.kernel.boot import OF_THE_GUEST, program
from lorelab.vmalock.params import Faulters, Followed, Probed, Taken, Threads
from lorelab.vmalock.workload.programs import OPERATION, operation

GUEST = {file.name: file for file in cache.files("vmalock", "guest/*")}
WORDS = tuple(name for name in Faulters.model_fields if name not in OF_THE_GUEST)
RUNNERS = ("threads.py", "probed.py", "taken.py")


def words_of(file):
    """The list by which a guest program makes the words of a command, from its source."""
    lists = [
        tuple(ast.literal_eval(comprehension.generators[0].iter))
        for comprehension in ast.walk(ast.parse(file.read_text()))
        if isinstance(comprehension, ast.ListComp)
        and isinstance(comprehension.generators[0].iter, ast.Tuple)
    ]
    [words] = lists
    return words


@pytest.mark.parametrize("name", RUNNERS)
def test_each_guest_program_hands_on_every_field(name):
    assert words_of(GUEST[name]) == WORDS


def test_faulters_takes_them_in_this_order():
    source = GUEST["faulters.c"].read_text()
    usage = re.search(r"faulters threads ([A-Z_ ]+) LOG FILES", source)[1]
    assert tuple(usage.lower().split()) == WORDS
    body = source[source.index("static void threads(char **argv)") :]
    taken = re.findall(r"(\w+) = number\(argv\[(\d)\]\);", body[: body.index("static void faults")])
    assert [name for name, _ in taken] == list(WORDS[1:])
    assert [int(place) for _, place in taken] == list(range(1, len(WORDS)))


RUNS = [
    (Threads, "threads.py"),
    (Followed, "threads.py"),
    (Taken, "taken.py"),
    (Probed, "probed.py"),
]


@pytest.mark.parametrize(("model", "runner"), RUNS)
def test_no_field_of_a_run_is_lost(model, runner):
    assert program(model()).keys() | OF_THE_GUEST == model.model_fields.keys()
    # What faulters.c does not take, the guest program reads itself.
    source = GUEST[runner].read_text()
    extra = model.model_fields.keys() - Faulters.model_fields.keys()
    assert [name for name in extra if f'one["{name}"]' not in source] == []


def test_a_new_field_is_seen():
    class Longer(Taken):
        stride: int = 1

    assert "stride" in program(Longer())
    assert "stride" not in words_of(GUEST["taken.py"])


def test_an_operation_refuses_a_field_that_it_has_not():
    with pytest.raises(TypeError, match="an operation has no hodl: it has kind, vma, marks"):
        operation(1, hodl=5)
    assert dict(zip(OPERATION, operation(1, hold=5), strict=True))["hold"] == 5


@pytest.mark.parametrize("model", [Threads, Followed, Taken, Probed])
def test_to_merge_takes_who_maps(model):
    with pytest.raises(BadInput, match="mappers=0: nothing merges with the area"):
        parse(model, {"mode": "merging", "mappers": 0})
    assert parse(model, {"mode": "merging", "mappers": 1}).mappers == 1
    assert parse(model, {"mode": "shared", "mappers": 0}).mappers == 0
