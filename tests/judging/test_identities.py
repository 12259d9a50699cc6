"""A probe's count is an identity where it counts at the patch's own calls alone, else it is not."""

import re

import pytest

from lorelab.fairzone.agree import probed as fairzone
from lorelab.lab import cache, probes
from lorelab.vmalock.agree import probed as vmalock

HOOK = re.compile(r"^K(?:RET)?FUNC_PROBE\((\w+)", re.MULTILINE)


def hooks(design: str, probe: str, name: str) -> set[str]:
    """Functions of the kernel at which a probe counts into a map, given as `MAP` or `MAP_KEY`."""
    _, *bodies = HOOK.split(probes.source(probe, design).read_text())
    pairs = zip(bodies[::2], bodies[1::2], strict=True)
    table = name.partition("_")[0]
    return {function for function, body in pairs if f"{table}.atomic_increment(" in body}


def of_the_patches(design: str, function: str) -> bool:
    """Whether a patch of the design has the function, and the kernel does not."""
    begins = re.compile(rf"^\+\w[\w ]*[ *]{function}\(", re.MULTILINE)
    return any(begins.search(file.read_text()) for file in cache.files(design, "patches/*.patch"))


@pytest.mark.parametrize("design", [fairzone, vmalock], ids=["fairzone", "vmalock"])
def test_an_identity_is_counted_where_the_patch_counts_and_nothing_else_is(design):
    name = design.__name__.split(".")[1]
    identities = set()
    for counter in design.PAIRS:
        probe, _, table = counter.partition(".")
        functions = hooks(name, probe, table)
        assert functions, counter
        if all(of_the_patches(name, function) for function in functions):
            identities.add(counter)
    assert identities == set(getattr(design, "IDENTITIES", ()))
