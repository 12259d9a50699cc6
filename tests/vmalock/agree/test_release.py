"""A kernel of the reader's own is judged by its release, and by no other kernel's rules."""

from types import SimpleNamespace

import pytest

from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.lab import run as lab_run
from lorelab.params import label
from lorelab.vmalock.kernel import (
    broken,
    collision,
    instructions,
    probed,
    sizes,
    taken,
    threads,
    workloads,
)
from lorelab.vmalock.params import Variant, label_of, variant_of

KNOWN = {
    "6.12.117": Variant.V6_12,
    "6.12.117+": Variant.V6_12,
    "7.3.4+deb14-amd64": Variant.V7_3,
    "7.3-rc1": Variant.V7_3,
}
UNKNOWN = {
    "7.4.0": "v7.4",
    "7.2.9-amd64": "v7.2",
    "6.16.3": "v6.16",
    "6.1.0-44": "v6.1",
    "6.120.1": "v6.120",
    "7.30.1": "v7.30",
    "73.4.1": "v73.4",
}


@pytest.mark.parametrize(("release", "variant"), KNOWN.items())
def test_a_release_that_was_read_is_its_variant(release, variant):
    assert variant_of(release) is variant
    assert label_of(release) == label(variant)


@pytest.mark.parametrize(("release", "name"), UNKNOWN.items())
def test_any_other_release_is_none(release, name):
    assert variant_of(release) is None
    assert label_of(release) == name


def on(release, record):
    return record._replace(provenance=SimpleNamespace(kernel=SimpleNamespace(release=release)))


RULED = [
    experiment(f"vmalock/{name}")
    for name in ("followed", "threads", "workloads", "workloads-followed", "taken")
]
"""Those whose rules are a kernel's; what `vmalock/probed` compares is one kernel with itself."""


@pytest.mark.parametrize("asked", RULED, ids=lambda each: each.name)
@pytest.mark.parametrize("release", ["7.4.0", "6.16.3"])
def test_no_rule_holds_of_a_kernel_that_nobody_read(asked, release):
    # A launch is held against a run of the model, which takes long to compile.
    recorded = records.recorded(asked.name, asked.Params)
    params = next(each for each in recorded if getattr(each, "workload", "") != "launch")
    kept = asked.recorded(params)
    assert asked.agree(params, on("6.12.117", kept)).verdict is AgreementVerdict.PASSED
    found = asked.agree(params, on(release, kept))
    assert found.verdict is AgreementVerdict.NO_MODEL
    assert found.table.empty and not len(found.judged)
    assert found.method.startswith(f"the kernel is {release}, and")
    assert found.method.endswith(": nothing is compared")


class Ran(SimpleNamespace):
    """A run, as far as it takes no guest; its records are the tables alone."""

    def record(self, name, params, counters, run=1):
        return counters


COUNTS = dict.fromkeys(threads.COUNTED, 1)
HITS = {name: {"first": 1, "all": 1} for name in workloads.TRACED}
ROWS = {
    "sizes": {"vm_area_struct": {"size": 1, "objects": 1, "order": 0}},
    "instructions": {"ns": [1, 2]},
    "threads": {"counts": COUNTS},
    "collision": {"lines": ["reader 1 0", "writer 1 1 0"]},
    "probed": {"counts": COUNTS, "probes": [{"probe": "faultpath", "lost": 0}]},
    "broken": {
        "ended": True,
        "said": [1, 0],
        "counts": dict.fromkeys([f"step_{name}" for name in broken.COUNTED], 1),
        "complaints": {},
    },
    "taken": dict.fromkeys(taken.COUNTED, 1),
    "workloads": {"said": [], "counts": {}, "traced": HITS},
}
"""A row of each guest program."""
MODULES = (broken, collision, instructions, probed, sizes, taken, threads, workloads)


@pytest.mark.parametrize("release", ["6.12.117", "7.3.4+deb14-amd64", "7.4.0"])
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.NAME)
def test_rows_are_of_the_kernel_that_ran(monkeypatch, module, release):
    name = module.NAME.split("/")[1]
    kernel = SimpleNamespace(release=release)
    run = {} if name == "sizes" else {"run": 0}
    ran = Ran(rows=[run | ROWS[name]], source={"kernel": kernel})
    monkeypatch.setattr(lab_run, "measure", lambda request, options: ran)
    params = experiment(module.NAME).Params()
    [rows] = module.measure([params])
    assert set(rows["variant"]) == {label_of(release)}
