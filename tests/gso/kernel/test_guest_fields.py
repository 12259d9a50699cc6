"""What the guest reads of a run, each question that asks it sends; zerosend.c takes the words."""

import ast
import re

import pytest

from lorelab.gso.kernel import broken, probed, tcp, traced, traffic
from lorelab.gso.params import Broken, Tcp, Traffic
from lorelab.lab import cache

GUEST = {file.name: file for file in cache.files("gso", "guest/*")}
ASKED = {
    "traffic": (traffic, Traffic()),
    "probed": (probed, Traffic()),
    "traced": (traced, Traffic()),
    "tcp": (tcp, Tcp()),
    "broken": (broken, Broken()),
}
BEFORE = ("protocol", "address", "port")
"""Words of zerosend's command in front of those that a run has under their names."""


def words(tree):
    """The words that a run gives zerosend, in their order."""
    [tuple_] = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and [target.id for target in node.targets if isinstance(target, ast.Name)] == ["words"]
    )
    return ast.literal_eval(tuple_)


def read(name):
    """Names that a guest program takes from `wanted`, a run."""
    tree = ast.parse(GUEST[name].read_text())
    taken = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "wanted"
        and isinstance(node.slice, ast.Constant)
    }
    return taken | set(words(tree))


@pytest.mark.parametrize("question", ASKED)
def test_each_question_sends_what_the_guest_reads(question):
    module, params = ASKED[question]
    [run] = module._request([params]).job.params["runs"]
    assert read("traffic.py") - run.keys() == set()


def test_zerosend_takes_them_in_this_order():
    names = (*BEFORE, *words(ast.parse(GUEST["traffic.py"].read_text())))
    source = GUEST["zerosend.c"].read_text()
    usage = re.search(r"zerosend udp\|tcp ([A-Z ]+)\n", source)[1]
    assert tuple(usage.lower().split()) == names[1:]
    assert int(re.search(r"argc != (\d+)", source)[1]) == 1 + len(names)
    taken = re.findall(r"(\w+) = atoi\(argv\[(\d)\]\)", source)
    places = range(1 + len(BEFORE), 1 + len(names))
    assert taken == [(name, str(n)) for name, n in zip(names[3:], places, strict=True)]
