"""What claims show as evidence, and what the findings say: each figure from where it comes."""

from lorelab.experiments import experiment
from lorelab.vmalock import figures
from lorelab.vmalock.pages import wraps
from lorelab.vmalock.params import Collision, Threads, Variant, Workloads, WorkloadsFollowed
from lorelab.vmalock.thread import checks
from lorelab.vmalock.thread.claims import CLAIMS
from lorelab.vmalock.thread.findings import FINDINGS


def evidence(id):
    return next(claim for claim in CLAIMS if claim.id == id).weigh().evidence


def said(name):
    return next(finding for finding in FINDINGS if finding.name == name).effect()


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


def counted(name, params):
    """Counters of a recorded run."""
    return experiment(name).recorded(params).counters.set_index("counter")["value"]


def receives(path, same):
    params = Workloads(workload="receive", threads=4, size=300, path=path, same=same)
    return counted("vmalock/workloads", params)


def test_shares_of_the_letter():
    row = figures.shares().loc["find"]
    assert evidence("find") == {
        **{"saved, % of all cycles": row["saved"], "of its own, %": row["saved_share"]}
    }
    found = evidence("mmap")
    assert (
        found["receives that took mmap_lock, per-VMA locks off"]
        == (receives("mmap", False)["reads"])
    )
    assert found["and on"] == receives("vma", False)["reads"] == 0


def test_receives_and_madvise():
    off, on = receives("mmap", False), receives("vma", True)
    found = evidence("entirely")
    assert found["receives refused, same VMA"] == on["refused"]
    assert found["readers asleep, same VMA"] == on["rwsem_sleep_reader"]
    assert (
        evidence("madvise-waits")["writers asleep, per-VMA locks off"]
        == (off["rwsem_sleep_writer"])
    )
    assert evidence("all-block")["receivers"] == 4  # threads=4 of the record, and madvise() besides
    assert evidence("all-block")["readers asleep per call, another"] == (
        f"{off['rwsem_sleep_reader'] / off['writes']:.2f}"
    )


def test_faults_that_are_refused():
    counts = counted("vmalock/threads", Threads(mode="merging"))
    refused = int(counts["pgfault"] - counts["vma_lock_success"])
    assert evidence("fallback")["merging areas"] == f"{refused} refused, {refused} under mmap_lock"


def test_one_fork_locks_all_vmas_and_one_increment_unlocks_them():
    params = WorkloadsFollowed(workload="fork", cpus=4)
    log = experiment("vmalock/workloads-followed").recorded(params).counters
    ends = log[log["event"] == "mmap_write_end"]
    found = evidence("bulk")
    assert found["forks"] == len(ends)
    assert (
        len(log[log["event"] == "marked"])
        >= len(ends) * (found["VMAs write-locked by each, at least"])
    )


def test_a_launch():
    before, after = (
        counted("vmalock/workloads", Workloads(workload="launch", path=path))
        for path in ("mmap", "vma")
    )
    found = evidence("launch")["readers asleep on mmap_lock"]
    assert found == (
        f"{before['rwsem_sleep_reader']:.0f} before, {after['rwsem_sleep_reader']:.0f} with the "
        "locks"
    )
    assert evidence("launch-contention")["of these that took mmap_lock"] == after["reads"]


def test_the_finding_names_the_writer_that_takes_a_free_lock_for_marked():
    counted = experiment("vmalock/collision").recorded(Collision()).counters
    taken = counted[counted["counter"] == "taken"].set_index("step")["value"]
    [step] = [step for step in taken.index if taken[step]]
    text = said("taken-for-marked")
    assert f"before the wrap, writer {step} and no other" in text
    steps = wraps.old_marks((Variant.V6_12, Variant.V7_3))
    assert f"under the fault after {steps.loc[('v6.12', 'unmap'), 'ALIVE']} steps" in text
    assert f"in the VMA after {steps.loc[('v7.3', 'flags'), 'EXCLUDED']} (" in text
