"""What claims show as evidence, and what the findings say: each figure from where it comes."""

import pytest

from lorelab.experiments import experiment
from lorelab.vmalock.experiments import contention, wrap
from lorelab.vmalock.params import Collision, Fork, Launch, Merge, Variant, Zerocopy
from lorelab.vmalock.thread import checks, figures
from lorelab.vmalock.thread.claims import CLAIMS
from lorelab.vmalock.thread.findings import FINDINGS
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.outcome import done, totals


def evidence(id):
    return next(claim for claim in CLAIMS if claim.id == id).weigh().evidence


def said(name):
    return next(finding for finding in FINDINGS if finding.name == name).effect()


def both(program, params):
    """Counters with the series, and with mmap_lock alone."""
    return [
        totals(done(program(params.model_copy(update={"variant": variant}))))
        for variant in (Variant.V2, Variant.MMAP_LOCK)
    ]


def test_the_lists_of_the_letter():
    lines = sum(figures.starting("changed-")["value"])
    assert evidence("diffstat") == {"lines": lines, "printed": lines, "files": 26}
    assert figures.figure("insertions") + figures.figure("deletions") == lines
    assert evidence("again") == {"find": "0.7 and 0.7 %", "mmap": "0.5 and 0.5 %"}


def test_the_sums_of_the_letter_can_be_wrong(monkeypatch):
    real = figures.figure
    for moved in ("files", "insertions", "find-base-again"):
        monkeypatch.setattr(checks, "figure", lambda id, moved=moved: real(id) + (id == moved))
        weigh = checks.weigh_again if moved.startswith("find") else checks.weigh_diffstat
        assert weigh().verdict == "contradicted"


def test_shares_of_the_letter():
    row = figures.shares().loc["find"]
    assert evidence("find") == {
        **{"saved, % of all cycles": row["saved"], "of its own, %": row["saved_share"]}
    }
    after, before = both(programs.zerocopy, Zerocopy())
    found = evidence("mmap")
    assert found["receives under mmap_lock, before"] == before["mmap"] > 0
    assert found["and with the series"] == after["mmap"]


def test_shares_without_fewer_receives_are_contradicted(monkeypatch):
    after, _ = both(programs.zerocopy, Zerocopy())
    monkeypatch.setattr(checks, "after_and_before", lambda params: (after, after))
    assert checks.weigh_mmap().verdict == "contradicted"


def test_faults_that_find_equal_numbers():
    params = Merge(variant=Variant.V2, merged=True, writer_share=0.2)
    found = totals(done(programs.merge(params)))
    shown = evidence("read-locked")
    assert shown["faults that found equal numbers"] == found["abort_early"] + found["abort_late"]
    assert shown["and went to mmap_lock"] == found["mmap"]
    refused = shown["faults that found equal numbers"]
    assert evidence("fallback")["refused"] >= refused
    assert evidence("fallback")["under the VMA's"] == found["vma"]


def test_one_fork_marks_every_vma_once():
    found = evidence("bulk")
    assert found == {"marked": 1000, "increments": 1, "marked afterwards": 0}
    params = Fork(variant=Variant.V2, vmas=1000, forks=1)
    assert totals(done(programs.fork(params)))["marks"] == 1000


def test_a_launch():
    found = evidence("launch-contention")
    after, before = both(programs.launch, Launch())
    assert found["faults' wait for mmap_lock left"] == (
        f"{100 * after['reader_wait'] / before['reader_wait']:.1f} %"
    )
    assert found["writers' wait left"] == (
        f"{100 * after['writer_wait'] / before['writer_wait']:.1f} %"
    )
    after, before = both(programs.launch, Launch(threads=200, pages=64))
    assert evidence("fibers")["time of 200 threads of 64 pages"] == (
        f"{100 * after['last'] / before['last']:.0f} % of before"
    )


@pytest.mark.parametrize(
    ("said_gain", "verdict"), [(48, "contradicted"), (40, "not testable here")]
)
def test_a_gain_of_launches_is_one_that_the_model_has(monkeypatch, said_gain, verdict):
    real = figures.figure
    monkeypatch.setattr(checks, "figure", lambda id: said_gain if id == "launch-gain" else real(id))
    assert checks.weigh_launch().verdict == verdict


def test_a_launch_without_waits_holds(monkeypatch):
    after, before = both(programs.launch, Launch())
    monkeypatch.setattr(
        checks, "after_and_before", lambda params: (after | {"reader_wait": 0}, before)
    )
    assert checks.weigh_launch_contention().verdict == "holds"
    worse = after | {"reader_wait": before["reader_wait"] + 1}
    monkeypatch.setattr(checks, "after_and_before", lambda params: (worse, before))
    assert checks.weigh_launch_contention().verdict == "contradicted"


def test_the_benefit_where_anyone_writes():
    grid = contention.benefit()
    gains = grid[grid["faster"]]
    for name, rows in (
        ("nobody writes", gains[gains["writer_share"] == 0]),
        ("1 in 1000 or more writes", gains[gains["writer_share"] >= 0.001]),
    ):
        low, high = rows["benefit"].min(), rows["benefit"].max()
        assert evidence("spf")[f"benefit kept where {name}"] == f"{low:.0f} to {high:.0f} %"


def test_the_finding_names_the_writer_that_takes_a_free_lock_for_marked():
    counted = experiment("vmalock/collision").recorded(Collision()).counters
    taken = counted[counted["counter"] == "taken"].set_index("step")["value"]
    [step] = [step for step in taken.index if taken[step]]
    text = said("taken-for-marked")
    assert f"before the wrap, writer {step} and no other" in text
    steps = wrap.old_marks((Variant.V6_12, Variant.V7_3))
    assert f"under the fault after {steps.loc[('v6.12', 'unmap'), 'ALIVE']} steps" in text
    assert f"in the VMA after {steps.loc[('v7.3', 'flags'), 'EXCLUDED']} (" in text
