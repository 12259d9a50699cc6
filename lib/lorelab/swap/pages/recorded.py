"""What pages show of recorded runs, each beside the model."""

import re
from typing import Any

import pandas as pd

from lorelab.experiments import Experiment, experiment
from lorelab.judging import agreement, reproduced
from lorelab.lab import records
from lorelab.lab.records import Record
from lorelab.params import Params, label, to_cli
from lorelab.swap.experiments import allocator_test, cpus, probed, switches
from lorelab.swap.params import AllocatorTest, AllocMode, Swapout, Switches, Variant

ALLOCATOR_TEST = experiment("swap/allocator-test")
IN_TURNS = experiment("swap/switches")
SCHEDULED = experiment("swap/cpus")

MODELS = {
    "6.12": {},
    "order of tails": {"tails_reversed": True},
    "allocator": {"variant": Variant.V7_2},
    "7.2": {"variant": Variant.V7_2, "tails_reversed": True},
}
"""The model as it is, with each of the two changes that 7.2 has alone, and with both."""


def every(name: str) -> dict[Params, Record]:
    """Every recorded run of an experiment."""
    question = experiment(name)
    return {params: question.recorded(params) for params in _all(question)}


def searches() -> pd.DataFrame:
    """What allocations of order 4 took, by size of the device, in 6.12.117 and in 7.2.

    Of the kernel where probes watched its test, and of the model of 7.2 for the same test.

    Returns
    -------
    DataFrame
        By `MiB` and `allocator`: `clusters` of the device, `allocations`, share that `fail` in per
        cent, `slots` read per allocation, and `visited`, clusters per allocation that fails, if
        each that finds room visits one.
    """
    rows = []
    for params, record in every("swap/probed").items():
        other = params.model_copy(update=MODELS["7.2"])
        for name, table in (("6.12.117", record.counters), ("7.2 (model)", probed.simulate(other))):
            row = {"MiB": params.device_mib, "allocator": name, "clusters": params.device_mib // 2}
            rows.append(row | _searched(table))
    return pd.DataFrame(rows).set_index(["MiB", "allocator"]).sort_index()


def _searched(counters: pd.DataFrame) -> dict[str, float]:
    totals = counters[counters["step"] == 0].set_index("counter")["value"]
    served = sum(totals[f"{place}_4"] for place in ("current", "free", "nonfull", "frag"))
    allocations = served + totals["fail_4"]
    return {
        "allocations": int(allocations),
        "fail": 100 * totals["fail_4"] / allocations,
        "slots": totals["scanned_4"] / allocations,
        "visited": (totals["visited_4"] - served) / totals["fail_4"],
    }


def longer() -> dict[bool, list[float]]:
    """How many times as long a swap-out without room takes on 512 MiB as on 8 MiB.

    What reproduce.py of the finding swap/frag-list-searched-whole printed on 6.12.117, each run, by
    whether the kernel has the backport.
    """
    times: dict[bool, list[float]] = {False: [], True: []}
    for answer in reproduced.recorded("swap/frag-list-searched-whole"):
        if answer.source.kernel.release == "6.12.117":
            times[answer.patched].append(float(re.search(r"([\d.]+) times", answer.text)[1]))
    return times


def runs() -> pd.DataFrame:
    """Every recorded run of `swap/allocator-test` against the model.

    Returns
    -------
    DataFrame
        `patched`, `parameters`, folios of all iterations by counter, `iterations`, and how many of
        them are `equal` in both counters.
    """
    return pd.DataFrame([_against_the_model(params) for params in _all(ALLOCATOR_TEST)])


def in_sum(rows: pd.DataFrame) -> pd.DataFrame:
    """Totals of `runs` by kernel: runs, iterations, those that are equal, and folios."""
    kernel = rows["patched"].map({False: "unmodified", True: "patched"}).rename("kernel")
    table = rows.drop(columns=["patched", "parameters"]).groupby(kernel, sort=False).sum()
    table.insert(0, "runs", kernel.value_counts())
    return table


def _all(question: Experiment) -> list[Params]:
    return records.recorded(question.name, question.Params)


def _against_the_model(params: AllocatorTest) -> dict[str, Any]:
    record = ALLOCATOR_TEST.recorded(params)
    both = agreement.compare(allocator_test.simulate(params), record.counters)
    row = {"patched": bool(record.provenance.kernel.patches), "parameters": to_cli(params, " ")}
    row |= record.counters.groupby("counter")["value"].sum().to_dict()
    return row | {"iterations": both["step"].nunique(), "equal": _equal_steps(both)}


def _equal_steps(both: pd.DataFrame) -> int:
    same = both.groupby("step")["difference"].apply(lambda d: bool((d == 0).all()))
    return int(same.sum())


def split(counters: pd.DataFrame, side: str = "value") -> int:
    """Folios that fell back in all iterations."""
    return int(counters.loc[counters["counter"] == "swpout_fallback", side].sum())


def pinned() -> pd.DataFrame:
    """Recorded runs on several CPUs whose task stays, or moves when it is told to.

    Returns
    -------
    DataFrame
        Parameters, and folios that were split: by `kernel` and `model`, and by the model `alone`,
        on one CPU.
    """
    rows = []
    for params in (params for params in _all(ALLOCATOR_TEST) if params.cpus > 1):
        model, counted = allocator_test.simulate(params), ALLOCATOR_TEST.recorded(params).counters
        alone = allocator_test.simulate(params.model_copy(update={"cpus": 1, "move_every": 0}))
        row = params.model_dump(include={"device_mib", "cpus", "move_every"})
        sides = {"kernel": counted, "model": model, "alone": alone}
        rows.append(row | {side: split(counters) for side, counters in sides.items()})
    return pd.DataFrame(rows)


def by_repeat() -> pd.DataFrame:
    """Recorded runs of `swap/cpus` and the model's: splits and moves of each repeat."""
    sides = {}
    for params in _all(SCHEDULED):
        sides[params.cpus, "kernel"] = splits_and_moves(SCHEDULED.recorded(params).counters)
        sides[params.cpus, "model"] = splits_and_moves(cpus.simulate(params))
    return pd.concat(sides, names=["CPUs", "side"])


def agreement_of(question: Experiment, params: Params) -> agreement.Agreement:
    """What `agree` says of a recorded run."""
    return question.agree(params, question.recorded(params))


def ranges(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of an agreement, units and judgements left out."""
    return table.drop(columns=["unit", "detectable", "verdict"])


def of_cpus() -> pd.DataFrame:
    """`ranges` of what is judged of every recorded run of `swap/cpus`, by CPUs and counter."""
    tables = [
        ranges(agreement_of(SCHEDULED, params).judged).assign(cpus=params.cpus)
        for params in _all(SCHEDULED)
    ]
    return pd.concat(tables).set_index(["cpus", "counter"])


def of_usemem() -> pd.DataFrame:
    """`ranges` of every recorded run of `swap/usemem`, by `setting` and counter, and `cpus`."""
    question = experiment("swap/usemem")
    tables = []
    for params in _all(question):
        batched = "" if params.split_batching else ", no batching"
        name = f"order {params.folio_order}, {label(params.force_split)}{batched}"
        table = agreement_of(question, params).table
        tables.append(ranges(table).assign(setting=name, cpus=params.cpus))
    table = pd.concat(tables).set_index(["setting", "counter"])
    return table.sort_index(level="setting", sort_remaining=False)


def of_switches() -> pd.DataFrame:
    """How v3 and v6.10 differ, in the recorded runs of `swap/switches` on several CPUs.

    Returns
    -------
    DataFrame
        Totals of all turns by when the task moves, iterations and setting.
    """
    names = ["swpout_fallback", "steal_0", "current_4", "free_4", "fail_4", "scanned_4"]
    rows = []
    for params in (params for params in _all(IN_TURNS) if params.cpus > 1):
        total = IN_TURNS.recorded(params).counters.groupby("counter")["value"].sum()
        for setting in map(label, (AllocMode.V6_10, AllocMode.V3)):
            row = {"moves after": params.move_every, "iterations": params.iterations}
            row |= {"setting": setting, "turns": params.turns}
            rows.append(row | {name: total[f"{setting}.{name}"] for name in names})
    return pd.DataFrame(rows).set_index(["moves after", "iterations", "setting"]).astype(int)


def in_turns(params: Switches) -> pd.DataFrame:
    """One recorded run of `swap/switches` against the model, as `by_setting` has it."""
    both = agreement.compare(switches.simulate(params), IN_TURNS.recorded(params).counters)
    return by_setting(both, params.iterations)


def other_kernels() -> list[tuple[str, AllocatorTest, pd.DataFrame]]:
    """Release, parameters and counters of `swap/allocator-test` on kernels not built here."""
    name = ALLOCATOR_TEST.name
    return [
        (release, params, records.load(name, params, release=release).counters)
        for release, params in records.others(name, AllocatorTest)
    ]


def beside(params: AllocatorTest, model: str, counted: pd.DataFrame) -> pd.DataFrame:
    """One of `MODELS` beside what a kernel that is not ours has counted."""
    simulated = allocator_test.simulate(params.model_copy(update=MODELS[model]))
    return agreement.compare(simulated.assign(variant=label(params.variant)), counted)


def on_other_kernels() -> pd.DataFrame:
    """Every run of `other_kernels`: its totals, and iterations in which two models equal it."""
    rows = []
    for release, params, counted in other_kernels():
        row = {"kernel": release, "options": params.options, "large_swapin": params.large_swapin}
        row |= counted.groupby("counter")["value"].sum().to_dict()
        for model in ("6.12", "7.2"):
            row[f"equal to {model}"] = _equal_steps(beside(params, model, counted))
        rows.append(row)
    return pd.DataFrame(rows)


def later_kernels() -> list[tuple[str, AllocatorTest, pd.DataFrame]]:
    """Those of `other_kernels` whose pages come back one by one, and that are no 6.12."""
    return [
        run for run in other_kernels() if not run[1].large_swapin and not run[0].startswith("6.12.")
    ]


def taken_over() -> pd.DataFrame:
    """Folios that were split on 7.2.12, and in each of `MODELS`, a row a set of options."""
    rows = {}
    for release, params, counted in later_kernels():
        if release.startswith("7.2.12+"):
            tables = {model: beside(params, model, counted) for model in MODELS}
            row = {model: split(both, "model") for model, both in tables.items()}
            row["7.2.12"] = split(counted)
            rows[params.options or "no option"] = row
    return pd.DataFrame(rows).T.rename(columns={"7.2": "both"}).astype(int)


def by_kernel(options: tuple[str, ...]) -> pd.DataFrame:
    """Counters of our 6.12 and of 7.2, with the columns `kernel` and `options`.

    Of `later_kernels` the first series alone, for what equals it would hide it.
    """
    tables = []
    for each in options:
        counted = ALLOCATOR_TEST.recorded(AllocatorTest(options=each, large_swapin=False)).counters
        tables.append(counted.assign(kernel="6.12.117", options=each))
    for release, params, counted in later_kernels():
        if params.options in options and release.startswith("7.2."):
            name = release.split("+")[0]
            tables.append(counted.assign(kernel=name, options=params.options))
    return pd.concat(tables)


def totals(**changes: Any) -> pd.Series:
    """What the kernel counted in a recorded run of `swap/swapout`, by counter."""
    counted = experiment("swap/swapout").recorded(Swapout(**changes)).counters
    return counted.set_index("counter")["value"]


def per_folio(**changes: Any) -> pd.Series:
    """`totals` for each folio."""
    return totals(**changes) / Swapout(**changes).folios


def releases() -> pd.DataFrame:
    """Counters of `swap/allocator-test` without options, as each release gives folios back.

    6.10 is modelled, for its pages come back one by one on any disk; the others are recorded. The
    column `variant` has the release, and how folios come back.
    """
    page_wise = AllocatorTest(variant=Variant.V6_10, large_swapin=False)
    tables = {"6.10 (model)": allocator_test.simulate(page_wise)}
    for name, whole in {"page by page": False, "whole folios": True}.items():
        params = AllocatorTest(large_swapin=whole)
        tables[f"6.12.117, {name}"] = ALLOCATOR_TEST.recorded(params).counters
    for release, params, counted in later_kernels():
        if release.startswith("7.3.") and not params.options:
            tables[f"{release.split('+')[0]}, page by page"] = counted
    return pd.concat(table.assign(variant=name) for name, table in tables.items())


def whole_on_7_3() -> pd.Series:
    """What 7.3.4 counted in that test where folios come back whole, in all iterations."""
    [counted] = [
        counted
        for release, params, counted in other_kernels()
        if release.startswith("7.3.") and params == AllocatorTest()
    ]
    return counted.groupby("counter")["value"].sum()


def split_by_release(counters: pd.DataFrame) -> pd.Series:
    """Share of the folios of `releases` that were split [%]."""
    total = counters.pivot_table(
        index="variant", columns="counter", values="value", aggfunc="sum", sort=False
    )
    return 100 * total["swpout_fallback"] / (total["swpout"] + total["swpout_fallback"])


def by_setting(joined: pd.DataFrame, iterations: int) -> pd.DataFrame:
    """Tell settings and turns apart in a table of `lorelab.judging.rows.compare`.

    Returns
    -------
    DataFrame
        `joined` with the columns `setting` and `turn`, and `counter` as one run has it.
    """
    split = joined["counter"].str.rsplit(".", n=1, expand=True)
    turn = "turn " + ((joined["step"] - 1) // iterations + 1).astype(str)
    return joined.assign(setting=split[0], counter=split[1], turn=turn)


def by_turn(rows: pd.DataFrame) -> pd.DataFrame:
    """Add up each turn of `by_setting`: folios the kernel split, and iterations that are equal.

    Returns
    -------
    DataFrame
        A row a setting; columns are both for each turn.
    """
    outcome = rows[rows["counter"].isin(["swpout", "swpout_fallback"])]
    same = outcome.groupby(["setting", "turn", "step"])["difference"].agg(lambda d: (d == 0).all())
    same = same.rename("equal").reset_index()
    split = outcome[outcome["counter"] == "swpout_fallback"]
    table = {"index": "setting", "columns": "turn", "sort": False, "aggfunc": "sum"}
    shown = {
        "split": split.pivot_table(values="kernel", **table),
        "iterations equal": same.pivot_table(values="equal", **table),
    }
    return pd.concat(shown, axis=1).astype(int)


def as_counters(rows: pd.DataFrame, turn: str) -> pd.DataFrame:
    """One turn of `by_setting` as counters of `swap/allocator-test`, a variant a setting."""
    outcome = rows["counter"].isin(["swpout", "swpout_fallback"])
    drawn = rows[outcome & (rows["turn"] == turn)]
    sides = ["model", "kernel"]
    drawn = drawn.melt(["step", "counter", "unit", "setting"], sides, "source", "value")
    return drawn.rename(columns={"setting": "variant"})


def splits_and_moves(counters: pd.DataFrame) -> pd.DataFrame:
    """Folios that fell back and moves of the task, a column a repeat."""
    wide = counters.pivot_table(index="counter", columns="step", values="value").astype(int)
    return wide.loc[["swpout_fallback", "migrations"]]


def instructions_per_64k(counters: pd.DataFrame) -> dict[str, float]:
    """Thousands of instructions for 64 KiB, in the mean, and how far repeats are apart in %."""
    steps = counters.pivot_table(index="step", columns="counter", values="value")
    per = 16 / steps["pages"].iloc[0] / 1000
    values = {}
    for name in ("swapout", "swapin"):
        each = steps[name]
        values[name] = per * each.mean()
        values[f"{name} spread"] = 100 * (each.max() - each.min()) / each.mean()
    return values
