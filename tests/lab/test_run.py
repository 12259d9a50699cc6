"""The measuring loop: which runs share a boot, what a boot is asked for, whose record is whose."""

from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import run
from lorelab.lab.boot import Job, Machine, Outcome
from lorelab.lab.run import Measured, Measurement, Request, RunOptions, one_boot

OWN, ASKED = {"probe": "alloc", "lost": 0}, {"probe": "faults", "lost": 1}


@pytest.fixture
def booted(monkeypatch):
    """Gives a function that boots nothing, on a kernel of some config, and notes what it is to."""

    def booted(config):
        found = []

        def boot(image, root, programs, machine, job, modules=None):
            found.append((machine, job, image))
            rows = [
                {"run": n, "value": value} for n, value in enumerate(job.params.get("runs", []))
            ]
            return Outcome(rows, [OWN, ASKED], "6.12.117", ["qemu"], "tcg", {})

        def kernel(image):
            info = SimpleNamespace(config=config, model_copy=lambda update: None)
            return SimpleNamespace(image=image, modules=None, info=info)

        monkeypatch.setattr(run.needs, "check", lambda wanted: None)
        monkeypatch.setattr(run.recipes, "recipe", lambda *of, patched: (*of, patched))
        monkeypatch.setattr(run.build, "built", kernel)
        monkeypatch.setattr(run.external_kernel, "find", kernel)
        monkeypatch.setattr(run.guest, "built", lambda: SimpleNamespace(root=None, info=None))
        monkeypatch.setattr(run.guest, "programs", lambda made: None)
        monkeypatch.setattr(run.boot, "run", boot)
        monkeypatch.setattr(run.boot, "qemu_version", lambda: "QEMU")
        return found

    return booted


JOB = Job("swap", "nothing", params={}, seconds=1.0, rows=0, probes=("alloc",))
REQUEST = Request(Machine(), JOB)


def test_probes_and_icount_reach_a_boot_that_asks_for_neither(booted):
    found = booted("lab")
    watched = run.measure(REQUEST, RunOptions(probes=("faults", "alloc"), icount=True))
    assert (watched.probes, watched.extra_frames) == ([OWN], [OWN, ASKED])
    alone = run.measure(REQUEST)
    assert (alone.probes, alone.extra_frames) == ([OWN], [])
    asked = [(machine.icount, job.probes) for machine, job, _ in found]
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
    run.measure(Request(Machine(append=("quiet",)), JOB))
    [(machine, *_)] = found
    assert machine.append == words


@pytest.mark.parametrize(
    ("request_", "image"),
    [
        (REQUEST, ("swap", None, False)),
        (REQUEST._replace(patched=True), ("swap", None, True)),
        (REQUEST._replace(patched=True, config="kasan"), ("swap", "kasan", True)),
    ],
)
def test_a_request_has_its_kernel_and_the_readers_own_stands_for_any(booted, request_, image):
    found = booted("lab")
    run.measure(request_)
    run.measure(request_, RunOptions(image=Path("own")))
    assert [image for *_, image in found] == [image, Path("own")]


class Asked(NamedTuple):
    """Parameters of a run."""

    cpus: int
    value: int
    repeats: int = 1


@pytest.fixture
def records(monkeypatch):
    """A record that says what it was made of."""
    monkeypatch.setattr(Measured, "record", lambda self, name, *of: (name, *of))


def request_of(batch):
    runs = [params.value for params in batch for _ in range(params.repeats)]
    return Request(Machine(cpus=batch[0].cpus), JOB._replace(params={"runs": runs}))


def values(params, measured, first):
    return [row["value"] for row in measured.rows[first : first + params.repeats]]


BY_CPUS = Measurement(
    "design/question",
    request_of,
    values,
    machine=lambda params: params.cpus,
    repeats=lambda params: params.repeats,
)
REQUESTED = [Asked(2, 5), Asked(1, 6, 2), Asked(2, 7), Asked(1, 8)]


@pytest.mark.usefixtures("records")
def test_runs_of_a_machine_share_a_boot_and_records_are_in_the_order_of_the_request(booted):
    found = booted("lab")
    records = BY_CPUS(REQUESTED)
    boots = [(machine.cpus, job.params["runs"]) for machine, job, _ in found]
    assert boots == [(1, [6, 6, 8]), (2, [5, 7])]
    counted = [[5], [6, 6], [7], [8]]
    assert records == [
        ("design/question", params, value, number)
        for params, value, number in zip(REQUESTED, counted, (1, 1, 2, 3), strict=True)
    ]


@pytest.mark.usefixtures("records")
def test_all_share_a_boot_or_each_has_its_own(booted):
    found = booted("lab")
    together = BY_CPUS._replace(machine=one_boot)(REQUESTED)
    assert [job.params["runs"] for _, job, _ in found] == [[5, 6, 6, 7, 8]]
    assert [number for *_, number in together] == [1, 2, 4, 5]
    found.clear()
    alone = BY_CPUS._replace(machine=None)(REQUESTED)
    assert [job.params["runs"] for _, job, _ in found] == [[5], [6, 6], [7], [8]]
    assert [record[:3] for record in alone] == [record[:3] for record in together]
    assert [number for *_, number in alone] == [1, 1, 1, 1]


@pytest.mark.usefixtures("records")
def test_runs_that_warm_a_boot_up_are_nobody_s(booted):
    booted("lab")
    warmed = BY_CPUS._replace(
        request=lambda batch: request_of([Asked(batch[0].cpus, 0), *batch]), warm_up=1
    )
    assert [(value, number) for *_, value, number in warmed(REQUESTED)] == [
        ([5], 2),
        ([6, 6], 2),
        ([7], 3),
        ([8], 4),
    ]


@pytest.mark.usefixtures("records")
def test_options_are_given_to_every_boot(booted):
    found = booted("lab")
    BY_CPUS(REQUESTED, RunOptions(Path("own"), ("faults",), icount=True))
    asked = [(machine.icount, job.probes, image) for machine, job, image in found]
    assert asked == [(True, ("alloc", "faults"), Path("own"))] * 2


def test_nothing_boots_where_one_of_the_requested_is_refused(booted):
    found = booted("lab")

    def check(params, options):
        if params.value == 8 and not options.image:
            raise BadInput("value=8")

    refusing = BY_CPUS._replace(check=check)
    with pytest.raises(BadInput, match="value=8"):
        refusing(REQUESTED)
    assert not found


def test_a_boot_that_gave_no_whole_run_gives_no_record(booted):
    booted("lab")

    def torn(params, measured, first):
        raise RunFailed("probes missed events")

    with pytest.raises(RunFailed, match="missed"):
        BY_CPUS._replace(counters=torn)(REQUESTED)
