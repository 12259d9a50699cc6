"""Tables of recorded runs, as the chapter's pages show them."""

from itertools import product

import pandas as pd

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.judging import reproduced
from lorelab.lab import records
from lorelab.lab.probes import counted
from lorelab.params import Params, to_cli
from lorelab.vmalock.params import (
    Broken,
    Collision,
    Followed,
    Instructions,
    Overlap,
    Probed,
    Sizes,
    Taken,
    Threads,
    Workloads,
    WorkloadsFollowed,
)

PAGE = 4096
LOGGED = {"vmalock/followed": Followed, "vmalock/workloads-followed": WorkloadsFollowed}
"""Experiments whose records are logs."""
COUNTED = {"vmalock/threads": Threads, "vmalock/taken": Taken}
"""Experiments that count what the program of `vmalock/followed` comes to, without a log."""


def followed() -> pd.DataFrame:
    """Every recorded run whose log was held against the model, step by step.

    Returns
    -------
    DataFrame
        A row a run: what ran, and its steps: all, those that are the model's (`same`), those with
        two right answers (`open`, and `unordered` where the log does not say what a check read),
        those that are not compared (`input`), and the verdict.
    """
    rows = []
    for name, model in LOGGED.items():
        for params in records.recorded(name, model):
            agreement = experiment(name).agree(params, _record(name, params))
            sums = agreement.table[["steps", "same", "open", "unordered", "input"]].sum().to_dict()
            rows.append({"runs": _runs(params), **sums, "verdict": str(agreement.verdict)})
    return pd.DataFrame(rows)


def workload_runs() -> pd.DataFrame:
    """Every recorded run of `vmalock/workloads`, held against what follows from its program.

    Returns
    -------
    DataFrame
        A row a run: `kernel`, what `runs`, and `path`; what its threads did, by trace points;
        how many counters were `compared`, and how many of them are `equal`.
    """
    name = "vmalock/workloads"
    ours = [(None, params) for params in records.recorded(name, Workloads)]
    rows = []
    for release, params in [*ours, *records.others(name, Workloads)]:
        record = records.load(name, params, release=release)
        judged = experiment(name).agree(params, record).judged
        values = record.counters.set_index("counter")["value"].astype(int)
        counts = values[["faults", "locked", "refused", "reads", "writes", "marks"]].to_dict()
        sums = {"compared": len(judged), "equal": int(judged["agrees"].sum())}
        kernel = record.provenance.kernel.release.partition("+")[0]
        named = {"kernel": kernel, "runs": _runs(params), "path": params.path}
        rows.append(named | counts | sums)
    order = ["kernel", "runs", "path"]
    return pd.DataFrame(rows).sort_values(order, ignore_index=True)


def programs() -> pd.DataFrame:
    """Every recorded run of faulters.c, held against what follows from it.

    Returns
    -------
    DataFrame
        A row for each `experiment` and `kernel`: how many `runs`, how many counters were `compared`
        in all of them, and how many of these are `equal`.
    """
    rows = []
    for name, model in COUNTED.items():
        ours = [(None, params) for params in records.recorded(name, model)]
        for release, params in [*ours, *records.others(name, model)]:
            record = records.load(name, params, release=release)
            agrees = experiment(name).agree(params, record).judged["agrees"]
            kernel = record.provenance.kernel.release.partition("+")[0]
            rows.append((name, kernel, 1, len(agrees), int(agrees.sum())))
    columns = ["experiment", "kernel", "runs", "compared", "equal"]
    return pd.DataFrame(rows, columns=columns).groupby(columns[:2], as_index=False).sum()


def _runs(params: Followed | Workloads) -> str:
    if isinstance(params, Followed):
        late = ", writers dawdle" if params.delay_us else ""
        return f"{params.mode}, {params.faulters} faulters{late}"
    vma = {True: "same VMA", False: "another"}[params.same]
    return f"receive, {vma}" if params.workload == "receive" else params.workload


def threads(**fields: int) -> pd.DataFrame:
    """Counters of `vmalock/threads` by mode and by what a fault tries first.

    Parameters
    ----------
    **fields
        Further parameters of the runs.
    """
    shown = {}
    for mode in ("private", "shared", "merging"):
        for path in ("vma", "mmap"):
            params = Threads(mode=mode, path=path, **fields)
            counters = _record("vmalock/threads", params).counters
            shown[mode, path] = counters.set_index("counter")["value"]
    return pd.DataFrame(shown)


def instructions(locks: tuple[str, ...] = ("off", "on", "inside", "unbuilt")) -> pd.DataFrame:
    """Median instructions of a fault and of a fork, a column for each state of the lock."""
    medians = {lock: {what: executed(what, lock) for what in ("faults", "forks")} for lock in locks}
    return pd.DataFrame(medians)


def executed(what: str, lock: str) -> float:
    """Median of the recorded rounds [instructions of a fault, or of a fork]."""
    record = _record("vmalock/instructions", Instructions(what=what, lock=lock))
    return record.counters["value"].median()


def sizes() -> pd.DataFrame:
    """What a VMA takes of memory, a column for each state of the lock.

    Returns
    -------
    DataFrame
        Rows `struct` and `its lock` (bytes; 0 where it has no object of its own), `in a slab` and
        `locks in a slab` (objects), and `a VMA` (bytes of the slabs, for a VMA and its lock).
    """
    shown = {}
    for lock in ("on", "inside"):
        counters = _record("vmalock/sizes", Sizes(lock=lock)).counters
        values = counters.set_index("counter")["value"]
        taken = 0.0
        for name in ("vm_area_struct", "vma_lock"):
            if f"{name}.size" in values:
                taken += (PAGE << int(values[f"{name}.order"])) / values[f"{name}.objects"]
        shown[lock] = {
            "struct": values["vm_area_struct.size"],
            "its lock": values["vma_lock.size"] if lock == "on" else 0,
            "in a slab": values["vm_area_struct.objects"],
            "locks in a slab": values["vma_lock.objects"] if lock == "on" else 0,
            "a VMA": round(taken, 1),
        }
    return pd.DataFrame(shown)


def workloads(workload: str) -> pd.DataFrame:
    """Every recorded run of one workload of `vmalock/workloads`, a column a run."""
    shown = {}
    for params in records.recorded("vmalock/workloads", Workloads):
        if params.workload == workload:
            counters = _record("vmalock/workloads", params).counters
            vma = {True: "same VMA", False: "another"}[params.same]
            name = (params.path, vma) if workload == "receive" else params.path
            shown[name] = counters.set_index("counter")["value"]
    table = pd.DataFrame(shown)
    return table[sorted(table.columns)]


def taken() -> pd.DataFrame:
    """How often mmap_lock was taken in every recorded run of `vmalock/taken`.

    Returns
    -------
    DataFrame
        Index `mode`, `release` and `path`; columns the counters.
    """
    name, rows = "vmalock/taken", {}
    for params in records.recorded(name, Taken):
        record = _record(name, params)
        rows[params.mode, record.provenance.kernel.release, params.path] = record.counters
    for release, params in records.others(name, Taken):
        rows[params.mode, release, params.path] = records.load(
            name, params, release=release
        ).counters
    values = {key: counters.set_index("counter")["value"] for key, counters in rows.items()}
    return pd.DataFrame(values).T.rename_axis(["mode", "release", "path"]).sort_index()


def probed() -> pd.DataFrame:
    """Where mmap_lock's time went in every recorded run of `vmalock/probed`.

    Returns
    -------
    DataFrame
        A row for each run, kind (read or write) and `what` (wait or hold): `mode`, `path`, how
        often it was (`times`), all of it together (`ms` of the guest's clock).
    """
    rows = []
    for params in records.recorded("vmalock/probed", Probed):
        sums = _record("vmalock/probed", params).counters.groupby("counter")["value"].sum()
        for what, (number, kind) in product(("wait", "hold"), enumerate(("read", "write"))):
            times, ns = (
                counted(sums, f"mmaplock.{name}_{number}") for name in (what, f"{what}_ns")
            )
            rows.append((params.mode, params.path, kind, what, times, ns / 1e6))
    table = pd.DataFrame(rows, columns=["mode", "path", "kind", "what", "times", "ms"])
    return table.sort_values(["mode", "path"], ascending=[True, False], kind="stable")


def collision(params: Collision | None = None) -> pd.DataFrame:
    """The recorded run of `vmalock/collision`: a row a writer, a column a counter."""
    counters = _record("vmalock/collision", params or Collision()).counters
    return counters.pivot_table("value", "step", "counter").astype(int).rename_axis("writer")


def overlap() -> pd.DataFrame:
    """Every recorded run of `vmalock/overlap`.

    Returns
    -------
    DataFrame
        A row a run: `kernel` and `writer`; readers `inside` as it comes, the `step` that it then
        takes, whether it is `through` while the fault is held, whether the fault `ended`, and the
        kernel's `complaints`.
    """
    rows = []
    for params in records.recorded("vmalock/overlap", Overlap):
        values = _record("vmalock/overlap", params).counters.set_index("counter")["value"]
        [step] = [step for step in ("marked", "marked_again", "wait") if values[step]]
        complaints = [
            name.removeprefix("kernel: ") for name in values.index if name.startswith("kernel")
        ]
        rows.append(
            {
                "kernel": {"lab": "6.12.117", "reset": "6.12.117, numbers reset"}[params.config],
                "writer": params.writer,
                "inside": int(values["inside"]),
                "step": step,
                "through": values["returned"] == 1,
                "ended": values["ended"] == 1,
                "complaints": "; ".join(complaints),
            }
        )
    return pd.DataFrame(rows).sort_values(["kernel", "writer"], ignore_index=True)


def whole_wraps() -> pd.DataFrame:
    """What a program said that makes all 2^31 writers; the book does not give it.

    Returns
    -------
    DataFrame
        A row a kernel that ran it on the machine itself, in no guest of ours: `kernel`, `virtual`
        (whether that machine is a virtual one), the `minutes` it took, and its last line, `said`.
    """
    runs = [
        answer for answer in reproduced.recorded("vmalock/taken-for-marked") if not answer.published
    ]
    return pd.DataFrame(
        {
            "kernel": answer.kernel,
            "virtual": answer.source.virtual,
            "minutes": answer.source.seconds / 60,
            "said": answer.verdict,
        }
        for answer in runs
        if isinstance(answer.source, reproduced.Here)
    )


def broken() -> pd.DataFrame:
    """Every recorded run of `vmalock/broken`: what the process saw, what the kernel said.

    Returns
    -------
    DataFrame
        A row a run: `workload`, `config`, `without`, `rounds`, whether the program `ended`, which
        it does not if it is killed or the kernel dies, `wrong` (writes lost, or places that showed
        the other file; missing where it did not end), and the kernel's `complaints`.
    """
    rows = []
    for params in records.recorded("vmalock/broken", Broken):
        values = _record("vmalock/broken", params).counters.set_index("counter")["value"]
        complaints = [
            name.removeprefix("kernel: ") for name in values.index if name.startswith("kernel")
        ]
        wrong = values.get("lost" if params.workload == "fork" else "stale")
        shown = params.model_dump(include={"workload", "config", "without", "rounds"})
        outcome = {
            "ended": values["ended"] == 1,
            "wrong": wrong,
            "complaints": "; ".join(complaints),
        }
        rows.append(shown | outcome)
    columns = ["workload", "config", "without", "rounds", "ended", "wrong", "complaints"]
    table = pd.DataFrame(rows)[columns].astype({"wrong": "Int64"})
    return table.sort_values(columns[:3], ignore_index=True)


def _record(name: str, params: Params) -> records.Record:
    record = experiment(name).recorded(params)
    if record is None:
        raise RunFailed(f"{name} of {to_cli(params)} is not recorded; add --record to a run of it")
    return record
