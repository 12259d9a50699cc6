"""What claims show as evidence, and what the findings say: each figure from where it comes."""

from functools import cache

import pytest

from lorelab.experiments import experiment
from lorelab.fairzone import figures
from lorelab.fairzone.model import zones
from lorelab.fairzone.pages import answers
from lorelab.fairzone.params import Batches, Tiobench, Variant
from lorelab.fairzone.thread import checks, findings
from lorelab.fairzone.thread.claims import CLAIMS

PHASES = ("write", "random write", "read", "random read")


def evidence(id):
    return next(claim for claim in CLAIMS if claim.id == id).weigh().evidence


@cache
def of(variant, **given):
    """Counters of each phase on the machine of June 2014."""
    params = Tiobench(variant=variant, steps=1, **given)
    table = experiment("fairzone/tiobench").simulate(params)
    wide = table.pivot_table(index="step", columns="counter", values="value")
    return wide.set_axis(PHASES)


def share(counted, phase):
    """DMA32's part of what was allocated."""
    row = counted.loc[phase]
    return row["allocated_dma32"] / row.filter(like="allocated_").sum()


def hits(counted):
    return counted.loc["read", "hits"] / counted.loc["read", "touched"]


def test_a_cell_of_the_table_is_read_on_the_disk_of_its_line():
    table = figures.tiobench().set_index(["operation", "threads"])
    speeds = {"disk_mb_s": table.loc[("seqread", 1), "baseline"]}
    speeds["write_mb_s"] = table.loc[("seqwrite", 1), "baseline"]
    found = evidence("seqread-1")
    assert found["hits in the model"] == hits(of(Variant.V1, threads=1, **speeds))
    assert found["then %"] == figures.speedup(found["hits in the model"])
    assert found["hits it needs"] == table.loc[("seqread", 1), "hits"]


def test_imbalance():
    base, merged = of(Variant.BASELINE), of(Variant.MERGED)
    found = evidence("imbalance")
    assert found["resets, baseline"] == base["resets"].sum()
    assert found["resets, merged"] == merged["resets"].sum()
    assert found["share, baseline"] == share(base, "read")
    assert found["share, merged"] == share(merged, "read")
    assert (found["share, 30 June"], found["size, 30 June"]) == (0.2, 0.2)
    assert 0.370 < found["size"] < 0.372


def test_a_baseline_whose_shares_are_not_those_of_size_moves_the_verdict(monkeypatch):
    unfair = checks.ran(Variant.OFF)
    monkeypatch.setattr(checks, "ran", lambda variant: unfair)
    assert checks.weigh_imbalance().verdict == "contradicted"


def test_a_printed_share_that_is_not_that_of_size_moves_the_verdict(monkeypatch):
    real = figures.figure
    shown = {"june30-dma32-share": 11.0}
    monkeypatch.setattr(figures, "figure", lambda id: shown.get(id, real(id)))
    assert checks.weigh_imbalance().verdict == "contradicted"


def test_what_the_writes_leave_in_dma32():
    v1 = of(Variant.V1)
    found = evidence("trapped")
    assert found["hits, v1"] == hits(v1) == evidence("local-repair")["hits"]
    assert found["first offset in DMA32, v4r8"] == 0 < 0.2 < found["first offset in DMA32, v1"]
    assert found["first offset in DMA32, off"] > 0.2 and found["hits, off"] == hits(of(Variant.OFF))
    reachable = of(Variant.V1_REACHABLE)["resets"].sum()
    assert evidence("local-repair")["resets, reachable only"] == reachable


def test_counters_that_drift():
    found = evidence("drift")
    for name, exact in (("64 CPUs", False), ("exact", True)):
        params = Batches(cpus=64, threads=64, exact=exact, turn=1)
        value = experiment("fairzone/batches").simulate(params).set_index("counter")["value"]
        low, high = value["allocated_dma32"], value["allocated_normal"]
        assert found[f"share, {name}"] == low / (low + high)
        assert found[f"resets, {name}"] == value["resets"]
    assert found["pages deferred"] > 0


def test_a_reset_gives_the_whole_batch():
    found = evidence("reset-to-zero")
    assert found["after"] == found["batch"] == found["before"] + 10


def test_a_reset_that_adds_nothing_would_leave_what_there_was(monkeypatch):
    monkeypatch.setattr(checks, "reset_alloc_batches", lambda node, cpu: None)
    weighed = checks.weigh_reset_to_zero()
    assert weighed.verdict == "holds"
    found = weighed.evidence
    assert found["after"] == found["before"] == found["batch"] - 10


def test_both_nodes_have_a_normal_zone_of_one_size_and_the_first_has_dma32_too(monkeypatch):
    made = []

    def make(*given, **named):
        made.append(real(*given, **named))
        return made[-1]

    real = zones.make
    monkeypatch.setattr(checks.zones, "make", make)
    checks.weigh_reset_before_remote()
    [node] = made
    assert node.zone["node"].tolist() == [0, 0, 1]
    assert node.zone["managed"][0] < node.zone["managed"][1] == node.zone["managed"][2]


def test_a_batch_that_is_not_reset_is_used_once():
    """min_free_kbytes of 4096 are 1024 pages, of which DMA32 has 5 of 23: 222, and half of it more.

    Its batch is what lies between low, 277, and high, 333; counters are exact.
    """
    assert evidence("remote-blocks")["DMA32's share, v1"] == (333 - 277) / 60_000


def test_a_remote_batch_keeps_local_ones_from_reset():
    found = evidence("remote-blocks")
    assert (found["resets, v1"], found["resets, local only"] > 100) == (0, True)
    assert found["DMA32's share, v1"] < 0.01 < found["its size"]
    assert evidence("reset-before-remote") == {"resets": 1, "served by the remote node": True}


def test_findings_give_the_figures_of_the_answers():
    found = answers.repairs(Tiobench())
    said = findings.never_resets()
    repaired = found.loc["v1, asks reachable zones", "passes"]
    assert f"{found.loc['v1', 'passes']:.2f} passes per allocation; {repaired:.2f} if" in said
    off, awake = of(Variant.OFF), of(Variant.OFF, disk_mb_s=0)
    said = findings.nap()
    assert f"DMA32 serves {100 * share(off, 'read'):.1f} % of the reads, with 37 % " in said
    assert f"at once it serves {100 * share(awake, 'read'):.1f} % " in said
    drift = evidence("drift")
    walks = [drift[f"second walks of v1-reachable, {name}"] for name in ("64 CPUs", "exact")]
    assert findings.drift() == (
        f"with 64 CPUs v1-reachable walks a second time {walks[0]} times, and {walks[1]} with "
        f"exact counters; DMA32's share is {100 * drift['share, 64 CPUs']:.2f} % and "
        f"{100 * drift['share, exact']:.2f} % (model)"
    )


@pytest.mark.parametrize("of_memory", [80, 200])
def test_reads_of_what_fits_and_of_what_does_not(of_memory):
    v1, base = (
        100 * hits(of(variant, data_percent=of_memory))
        for variant in (Variant.V1, Variant.BASELINE)
    )
    if of_memory == 80:
        assert f"reads {100 - v1:.1f} % from the disk, and" in findings.what_fits()
        assert f"the baseline {100 - base:.1f} %" in findings.what_fits()
    else:
        assert f"v1 finds {v1:.1f} % of the reads cached and the" in findings.read_back()
        assert f"baseline {base:.1f} %; with caches dropped" in findings.read_back()
