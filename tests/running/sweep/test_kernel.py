"""Sweeps on a kernel: the points of a boot that fails are parted, until one is to blame alone."""

from types import SimpleNamespace

import pytest
from distributed import LocalCluster

from lorelab import experiments
from lorelab.counters import table
from lorelab.lab import boot
from lorelab.lab.boot import GuestFailed
from lorelab.params import Params, param
from lorelab.running.sweep import plan, run
from lorelab.running.sweep.journal import Journal

NAME = "design/question"


class Some(Params):
    seed: int = param(1, "what it counts from")


class Fake:
    """Measures by counting; a boot with a seed of `panics` ends as a guest that panics does."""

    Params = Some

    def __init__(self, panics):
        self.panics, self.boots = panics, []

    def measure(self, wanted):
        self.boots.append([params.seed for params in wanted])
        if self.panics & set(self.boots[-1]):
            raise GuestFailed("the guest's kernel panicked; last lines:\n  Kernel panic", [])
        counted = [{"c": ("u", [params.seed])} for params in wanted]
        return [SimpleNamespace(counters=table(NAME, "v", "kernel", each)) for each in counted]


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """Sweeps seeds 1 to 16 with those of `panics` bad; gives journal, failures and the boots."""

    def swept(panics, workers=1):
        fake = Fake(set(panics))
        monkeypatch.setattr(experiments, "experiment", lambda name: fake)
        grid = plan.grid(NAME, ("seed=1:16",), kernel=True)
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None
            ) as cluster,
            Journal(tmp_path, grid, "rests") as journal,
        ):
            failed = run.run(journal, cluster.scheduler_address)
            return {p.number: p.rows[0][-1] for p in journal.points()}, failed, fake.boots

    return swept


def test_a_boot_takes_many_points(swept):
    kept, failed, boots = swept(panics=[])
    assert kept == {number: number + 1 for number in range(16)}
    assert not failed and boots == [list(range(1, 17))]


def test_each_worker_gets_a_boot(swept):
    _, _, boots = swept(panics=[], workers=2)
    assert sorted(boots) == [list(range(1, 9)), list(range(9, 17))]


def test_a_point_that_panics_its_guest_is_that_points_failure(swept):
    kept, failed, boots = swept(panics=[5])
    assert list(failed) == [4] and "the guest's kernel panicked" in failed[4]
    assert "\n" not in failed[4]
    assert kept == {number: number + 1 for number in range(16) if number != 4}
    assert [5] in boots


def test_so_are_several(swept):
    kept, failed, _ = swept(panics=[1, 2, 16])
    assert list(failed) == [0, 1, 15] and len(kept) == 13


def test_what_was_measured_is_not_booted_again(swept):
    swept(panics=[5])
    kept, failed, boots = swept(panics=[])
    assert boots == [[5]] and not failed and len(kept) == 16


GUEST = """
def run(params):
    for seed in params["seeds"]:
        if seed in params["panics"]:
            open("/proc/sysrq-trigger", "w").write("c")
        yield {"c": seed}
"""


class Booted(Fake):
    """The same in a guest, whose kernel really panics."""

    def __init__(self, panics, kernel, root, folder):
        super().__init__(panics)
        (folder / "points.py").write_text(GUEST)
        self.where = kernel, root, folder

    def measure(self, wanted):
        seeds = [params.seed for params in wanted]
        self.boots.append(seeds)
        told = {"seeds": seeds, "panics": sorted(self.panics)}
        job = boot.Job(None, "points", told, 60.0, len(seeds))
        rows = boot.run(*self.where, boot.Machine(memory_mib=512), job, quiet=True).rows
        counted = [{"c": ("u", [row["c"]])} for row in rows]
        return [SimpleNamespace(counters=table(NAME, "v", "kernel", each)) for each in counted]


def test_a_guest_that_really_panics_fails_its_point_alone(laboratory, tmp_path, monkeypatch):
    """How more points than two are parted does not depend on what failed; it is tested above."""
    there = laboratory.kernel.image, laboratory.guest.root, tmp_path
    booted = Booted({3}, *there)
    monkeypatch.setattr(experiments, "experiment", lambda name: booted)
    grid = plan.grid(NAME, ("seed=2,3",), kernel=True)
    one = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with LocalCluster(**one) as cluster, Journal(tmp_path / "kept", grid, "rests") as journal:
        failed = run.run(journal, cluster.scheduler_address)
        kept = {point.number: point.rows[0][-1] for point in journal.points()}
    assert list(failed) == [1] and "the guest's kernel panicked" in failed[1]
    assert kept == {0: 2} and sorted(booted.boots) == [[2], [2, 3], [3]]
