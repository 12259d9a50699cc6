"""What the performance page shows, each table against runs that are read here in another way."""

import pytest

from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.params import label
from lorelab.vmalock.pages import assumptions, performance, views
from lorelab.vmalock.params import (
    Contention,
    Fork,
    Launch,
    Merge,
    Probed,
    Taken,
    Variant,
    Workloads,
    Zerocopy,
)
from lorelab.vmalock.workload.costs import INSTRUCTIONS, costs

LATER = ("vma-rwsem", "v2", "v6.12", "v7.3")


def of(name, params):
    """Counters of a run of the model."""
    return experiment(f"vmalock/{name}").simulate(params).set_index("counter")["value"]


def test_every_time_that_a_run_is_given_is_in_the_table_of_assumptions():
    constants = {"slice", "handoff"}
    names = {"local": "local_ns", "remote": "remote_ns"}
    names |= {name: f"{name}_ns" for name in ("wake", "start", "switch")}
    given = costs(Contention())
    times = set(given) - constants - set(INSTRUCTIONS)
    assert {names[time] for time in times} | {"think_ns", "per_ns"} == set(assumptions.TIMES)
    table = assumptions.assumed(Contention()).set_index("part")
    for time in times:
        assert table.loc[assumptions.TIMES[names[time]].part, "value"] == given[time]
    assert set(table.index[table["source"] == "measured"]) == set(assumptions.RECORDED)
    assert (table["source"] != "").all()


def test_what_hangs_on_a_time_is_seen_at_half_and_twice_of_it():
    small = {"cpus": 4, "writer_share": 0.05, "ms": 1}
    table = assumptions.sensitivity(**small)
    assert list(table.index) == ["all as they are", *assumptions.TIMES]
    base = Contention(cpus=4, threads=4, vmas=4, writer_share=0.05, ms=1)
    ratios = []
    for value in (30, 60, 120):
        params = base.model_copy(update={"remote_ns": value})
        ours, theirs = (
            of("contention", params.model_copy(update={"variant": variant}))["fault_rate"]
            for variant in (Variant.V6_12, Variant.MMAP_LOCK)
        )
        ratios.append(ours / theirs)
    row = table.loc["remote_ns", "mmap_lock"]
    assert (row["least"], row["most"]) == (min(ratios), max(ratios))
    assert len(set(ratios)) == 3


def test_how_much_longer_a_fork_takes():
    table = performance.forked().set_index(["vmas", "variant"])["longer"]
    assert sorted(set(table.index.get_level_values("vmas"))) == [10, 100, 1000, 10_000]
    assert list(table[10].index) == list(LATER)
    for vmas, variant in ((10, Variant.V6_12), (1000, Variant.VMA_RWSEM)):
        base = of("fork", Fork(vmas=vmas, variant=Variant.MMAP_LOCK))["time"]
        time = of("fork", Fork(vmas=vmas, variant=variant))["time"]
        assert table[vmas, label(variant)] == pytest.approx(100 * (time / base - 1))


def test_what_a_launch_gains_is_a_share_of_its_time_under_mmap_lock():
    [shares] = performance.shorter((2, 64)).to_numpy()
    for share, think_ns in zip(shares, (2000, 64_000), strict=True):
        before, after = (
            of("launch", Launch(variant=variant, think_ns=think_ns))["time"]
            for variant in (Variant.MMAP_LOCK, Variant.V2)
        )
        assert before * (100 - share) / 100 == pytest.approx(after)
    assert shares[0] > 40 > 1 > shares[1]


def test_a_launch_by_variant():
    table = performance.launched(cpus=2)
    assert list(table.index) == ["mmap-lock", *LATER]
    wanted = ["time", "sleep_reader", "sleep_writer", "mmap", "retry"]
    found = of("launch", Launch(cpus=2, variant=Variant.V2))
    assert table.loc["v2"].to_dict() == {name: found[name] for name in wanted}


def test_faults_of_threads_with_a_vma_each_and_with_one():
    table = performance.merged().set_index(["threads", "vmas", "variant"])["rate"]
    assert len(table) == 5 * 2 * 2
    for one, vmas in ((True, "one VMA"), (False, "a VMA each")):
        params = Merge(threads=4, cpus=4, merged=one, variant=Variant.V6_12)
        assert table[4, vmas, "v6.12"] == of("merge", params)["fault_rate"]


def test_receives_of_the_same_vma_and_of_another():
    table = performance.receiving().set_index(["threads", "madvise", "variant"])["rate"]
    for same, madvise in ((True, "same VMA"), (False, "another VMA")):
        params = Zerocopy(threads=8, cpus=8, same=same, variant=Variant.MMAP_LOCK)
        assert table[8, madvise, "mmap-lock"] == of("zerocopy", params)["fault_rate"]


def test_what_a_thread_does_is_named_by_where_it_comes_to():
    params = Contention(cpus=3, threads=3, vmas=2, writer_share=0.5, ms=1)
    old, new = (
        set(performance.timeline(params.model_copy(update={"variant": p}), 500_000)["doing"])
        for p in (Variant.MMAP_LOCK, Variant.V6_12)
    )
    assert {"own work", "handles a fault", "waits for mmap_lock", "changes VMAs"} <= old
    assert "waits for readers" in new - old


def test_counters_over_the_cpus():
    table = performance.over_cpus(ms=1)
    assert sorted(set(table["cpus"])) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert set(table["variant"]) == {label(variant) for variant in performance.VARIANTS}
    params = Contention(cpus=4, threads=4, vmas=4, variant=Variant.SPF, writer_share=0.01, ms=1)
    shown = table[(table["cpus"] == 4) & (table["variant"] == label(Variant.SPF))]
    assert shown.set_index("counter")["value"].to_dict() == of("contention", params).to_dict()


def test_recorded_runs_that_were_followed():
    table = views.followed()
    assert list(table.index) == list(range(len(table)))
    assert (table["verdict"] == "passed").all()
    kinds = ["same", "open", "unordered", "input"]
    assert (table[kinds].sum(axis=1) == table["steps"]).all()
    assert (table["input"] > 0).all()
    files = [file for name in views.LOGGED for file in (records.FOLDER / name).glob("*.csv")]
    assert table["runs"].nunique() == len(table) == len(files) > 0


def test_recorded_workloads_that_were_held_against_their_programs():
    table = views.workload_runs()
    order = table[["kernel", "runs", "path"]].agg(tuple, axis=1)
    assert order.is_monotonic_increasing
    assert list(table.index) == list(range(len(table)))
    assert (table["compared"] == table["equal"]).all()
    counts = ["faults", "locked", "refused", "reads", "writes", "marks"]
    for params in records.recorded("vmalock/workloads", Workloads):
        if params.workload == "receive":
            continue
        record = experiment("vmalock/workloads").recorded(params)
        value = record.counters.set_index("counter")["value"]
        row = table.set_index(["kernel", "runs", "path"])
        row = row.loc["6.12.117", params.workload, params.path]
        assert row[counts].to_dict() == {name: value[name] for name in counts}


def test_where_the_time_of_mmap_lock_went():
    table = views.probed()
    asked = experiment("vmalock/probed")
    for row in table.itertuples():
        counted = asked.recorded(Probed(mode=row.mode, path=row.path)).counters
        sums = counted.groupby("counter")["value"].sum()
        number = ["read", "write"].index(row.kind)
        assert row.times == sums.get(f"mmaplock.{row.what}_{number}", 0)
        assert row.ms == sums.get(f"mmaplock.{row.what}_ns_{number}", 0) / 1e6
    assert set(table["what"]) == {"wait", "hold"}


def test_recorded_workloads():
    table = views.workloads("receive")
    asked = experiment("vmalock/workloads")
    recorded = records.recorded("vmalock/workloads", Workloads)
    runs = [params for params in recorded if params.workload == "receive"]
    assert len(table.columns) == len(runs)
    for params in runs:
        value = asked.recorded(params).counters.set_index("counter")["value"]
        shown = table[params.path, "same VMA" if params.same else "another"]
        assert shown.dropna().to_dict() == value.to_dict()


def test_runs_of_one_program_are_held_against_it_on_every_kernel():
    table = views.programs().set_index(["experiment", "kernel"])
    assert (table["compared"] == table["equal"]).all()
    for name, model in views.COUNTED.items():
        ours = len(records.recorded(name, model))
        assert table.loc[(name, "6.12.117"), "runs"] == ours > 0
    later = records.others("vmalock/taken", Taken)
    assert table.loc[("vmalock/taken", "7.3.4"), "runs"] == len(later) > 0
