"""What a boot is asked for besides what the experiment asks."""

from types import SimpleNamespace

import pytest

from lorelab.lab import run
from lorelab.lab.boot import Job, Machine, Outcome
from lorelab.lab.run import Lab

OWN, ASKED = {"probe": "alloc", "lost": 0}, {"probe": "faults", "lost": 1}


@pytest.fixture
def booted(monkeypatch):
    """Gives a function that boots nothing, on a kernel of some config, and notes what it is to."""

    def booted(config):
        found = []

        def boot(image, root, programs, machine, job, modules=None):
            found.append((machine, job))
            return Outcome([], [OWN, ASKED], "6.12.117", ["qemu"], "tcg", {})

        info = SimpleNamespace(config=config, model_copy=lambda update: None)
        kernel = SimpleNamespace(image=None, modules=None, info=info)
        monkeypatch.setattr(run.needs, "check", lambda wanted: None)
        monkeypatch.setattr(run.build, "recipe", lambda design, patched: (design, patched))
        monkeypatch.setattr(run.build, "built", lambda made: kernel)
        monkeypatch.setattr(run.guest, "built", lambda: SimpleNamespace(root=None, info=None))
        monkeypatch.setattr(run.guest, "programs", lambda made: None)
        monkeypatch.setattr(run.boot, "run", boot)
        monkeypatch.setattr(run.boot, "qemu_version", lambda: "QEMU")
        return found

    return booted


JOB = Job("swap", "nothing", params={}, seconds=1.0, rows=0, probes=("alloc",))


def test_probes_and_icount_reach_a_boot_that_asks_for_neither(booted):
    found = booted("lab")
    watched = run.measure(Machine(), JOB, Lab(probes=("faults", "alloc"), icount=True))
    assert (watched.probes, watched.asked) == ([OWN], [OWN, ASKED])
    alone = run.measure(Machine(), JOB)
    assert (alone.probes, alone.asked) == ([OWN], [])
    asked = [(machine.icount, job.probes) for machine, job in found]
    assert asked == [(True, ("alloc", "faults")), (False, ("alloc",))]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("lab", ("quiet",)),
        ("kcsan", ("quiet",)),
        ("kasan", ("no5lvl", "quiet")),
        ("debug", ("no5lvl", "quiet")),
        (None, ("quiet",)),
    ],
)
def test_a_kernel_with_kasan_has_four_levels_of_page_tables(booted, config, words):
    found = booted(config)
    run.measure(Machine(append=("quiet",)), JOB)
    [(machine, _)] = found
    assert machine.append == words
