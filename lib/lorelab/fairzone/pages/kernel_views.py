"""Tables that the page of the kernel shows, from recorded runs."""

import numpy as np
import pandas as pd

from lorelab.experiments import experiment
from lorelab.fairzone.agree import followed as judge
from lorelab.fairzone.agree import reread as judge_reread
from lorelab.fairzone.model.replay import BATCH
from lorelab.fairzone.params import MODES, Followed, Nodes, Reread
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.files import TWO_FILES_READS
from lorelab.fairzone.workload.machine import nap_pages
from lorelab.fairzone.workload.reread import PARTS, pages_of, plan
from lorelab.lab import records
from lorelab.lab.records import Record

MOVABLE = 3
"""Slot of ZONE_MOVABLE, and class of the allocations that may come from it."""


def recorded(name: str) -> list[tuple[Followed, Record]]:
    """Every recorded run of an experiment, with its parameters."""
    question = experiment(name)
    return [
        (params, question.recorded(params)) for params in records.recorded(name, question.Params)
    ]


def followed() -> pd.DataFrame:
    """Every recorded log of a guest with Normal: its walks, resets and passes, and whose they are.

    Returns
    -------
    DataFrame
        A row a record: `mode`, `cpus`, `counter` (a CPU's part of the counters, or exact), `walks`,
        `resets`, `second passes`, `skipped` zones, `refused` (zones refused for a watermark),
        `batch known`, the walks of which batch and diff are compared, too; `same`, the walks that
        are the model's in all that is compared of them.
    """
    rows = [log_row(params, record) for params, record in _logs("zones")]
    return _in_order(rows, ["cpus", "place", "counter"])


def movable() -> pd.DataFrame:
    """Every recorded log of a guest with a movable zone.

    Returns
    -------
    DataFrame
        A row a record: `MiB` of the guest, `mode`, `walks`, `resets`, `second passes`; `size`,
        Movable's part of the managed pages, and `share`, its part of those pages that may come from
        it, in per cent; `from Normal's list`, walks of classes below Movable; `batch known` and
        `same`, as above.
    """
    rows = []
    for params, record in _logs("movable"):
        values = log_row(params, record)
        zones = record.counters.query("kind == 'zone'").set_index("zone")["managed"]
        walks = record.counters.query("kind == 'walk'")
        mine = walks[(walks["klass"] >= MOVABLE) & walks["zone"].isin(zones.index)]
        pages = (mine["count"] * 2 ** mine["order"]).groupby(mine["zone"]).sum()
        row: dict[str, object] = {"MiB": params.mib}
        row |= {name: values[name] for name in ("mode", "walks", "resets", "second passes")}
        row["size"] = round(100 * zones[MOVABLE] / zones.sum(), 1)
        row["share"] = round(100 * pages[MOVABLE] / pages.sum(), 1)
        row["from Normal's list"] = int(walks[walks["klass"] < MOVABLE]["count"].sum())
        rows.append(row | {name: values[name] for name in ("batch known", "same")})
    return _in_order(rows, ["MiB", "place"])


def _logs(layout: str) -> list[tuple[Followed, Record]]:
    return [run for run in recorded("fairzone/followed") if run[0].layout == layout]


def _in_order(rows: list[dict[str, object]], by: list[str]) -> pd.DataFrame:
    """Rows with their modes in the order of the switch."""
    order = list(Followed.model_fields["mode"].annotation.__args__)
    table = pd.DataFrame(rows)
    table = table.assign(place=table["mode"].map(order.index)).sort_values(by)
    return table.drop(columns="place").reset_index(drop=True)


def reread() -> pd.DataFrame:
    """Every recorded write and read of the disk, means over its repeats.

    Returns
    -------
    DataFrame
        A row a record: `mode`, `workload`, `program`, `repeats`; `size`, DMA32's part of the pages
        that were free at the start; `share, write` and `share, read`, its part of the allocations;
        `hits` of the reads, all in per cent; `passes` a page and `resets` a run.
    """
    rows = []
    for params, record in recorded("fairzone/reread"):
        if params.workload != "two-files":
            rows.append(_reread(params, record))
    return pd.DataFrame(rows).sort_values(["workload", "program", "mode"], ignore_index=True)


def _reread(params: Reread, record: Record) -> dict[str, object]:
    mean = record.counters.groupby("counter")["value"].mean()

    def part(name: str) -> float:
        taken = {zone: mean[name.format(zone)] for zone in ("dma", "dma32", "normal")}
        return 100 * taken["dma32"] / sum(taken.values())

    pages = sum(mean[f"read_allocated_0_{zone}"] for zone in ("dma", "dma32", "normal"))
    return {
        "mode": params.mode,
        "workload": params.workload,
        "program": params.program,
        "repeats": params.repeats,
        "size": round(part("zone_0_{}_free"), 1),
        "share, write": round(part("write_allocated_0_{}"), 1),
        "share, read": round(part("read_allocated_0_{}"), 1),
        "hits": round(100 * max(0, mean["read_hits"]) / mean["read_touched"], 2),
        "passes": round(mean["read_passes"] / pages, 2),
        "resets": round(mean["write_resets"] + mean["read_resets"]),
    }


def two_files(data_percent: int) -> pd.DataFrame:
    """What of each reading of two files was found in the cache, means over the repeats.

    Parameters
    ----------
    data_percent : int
        Both files, in per cent of the guest's memory.

    Returns
    -------
    DataFrame
        A row a recorded mode, a column a `file` (1, 2) and its `reading` (1 to 5): per cent of the
        pages read.
    """
    rows = {}
    for params, record in recorded("fairzone/reread"):
        if params.memory_cgroups or params.workload != "two-files":
            continue
        if params.data_percent == data_percent:
            mean = record.counters.groupby("counter")["value"].mean()
            names = [name for name, *_ in plan(params, pages_of(params))]
            rows[params.mode] = [
                round(100 * max(0, mean[f"{name}_hits"]) / mean[f"{name}_touched"], 1)
                for name in names
            ]
    readings = range(1, TWO_FILES_READS + 1)
    columns = pd.MultiIndex.from_product([(1, 2), readings], names=["file", "reading"])
    return pd.DataFrame.from_dict(rows, "index", columns=columns).rename_axis("mode")


def with_and_without_memory_cgroups() -> pd.DataFrame:
    """What reclaim makes of two files that fit one by one, in guests with and without cgroups.

    Returns
    -------
    DataFrame
        A row a guest, `memory cgroups` off or on; least, median and most of its runs: `demoted`,
        active pages that reclaim demotes while the second file is read once, in per cent of the
        first file, which is active; `found`, of the second file at its third reading, in per cent.
    """
    rows = {}
    for params, record in recorded("fairzone/reread"):
        if (params.workload, params.data_percent, params.mode) == ("two-files", 90, "off"):
            wide = record.counters.pivot_table(index="step", columns="counter", values="value")
            shares = {
                "demoted": wide["file2_read1_pgdeactivate"] / wide["file1_read1_touched"],
                "found": wide["file2_read3_hits"] / wide["file2_read3_touched"],
            }
            rows["on" if params.memory_cgroups else "off"] = {
                f"{what}, {name}": round(100 * share.quantile(part), 1)
                for what, share in shares.items()
                for name, part in (("least", 0), ("median", 0.5), ("most", 1))
            }
    return pd.DataFrame(rows).T.rename_axis("memory cgroups").sort_index()


def compared() -> pd.DataFrame:
    """The model left to itself, against every recorded write and read of the disk.

    Returns
    -------
    DataFrame
        A row a record: `mode`, `workload`, `program`; `parts, off by at most` for the zones' parts
        of the allocations, in per cent of the kernel's; then the kernel's passes a page and entries
        into the slow path over the model's.
    """
    rows = []
    for params, record in recorded("fairzone/reread"):
        if params.workload == "two-files":
            continue
        judged = judge_reread.agree(params, record).table.set_index("counter")
        ratio = judged["kernel/model"]
        played = judge_reread.played(params, record.counters, 1)
        sides = [t.groupby("counter")["value"].mean() for t in (played, record.counters)]
        row: dict[str, object] = {
            name: getattr(params, name) for name in ("mode", "workload", "program")
        }
        row["parts, off by at most"] = round(100 * (ratio.filter(like="_part_") - 1).abs().max(), 1)
        for phase in ("write", "read"):
            row[f"{phase}, passes"] = round(ratio[f"{phase}_passes"], 2)
            entered = [side[f"{phase}_slowpaths"] for side in sides]
            row[f"{phase}, slow path"] = round(entered[1] / entered[0], 2)
        rows.append(row)
    return pd.DataFrame(rows).sort_values(["workload", "program", "mode"], ignore_index=True)


def cached() -> pd.DataFrame:
    """What of data just written is cached when its reading begins, means over the repeats.

    Returns
    -------
    DataFrame
        As `charts.cached` takes it: `offset` in per cent of the data, `cached` in per cent of that
        part of the data, `run`.
    """
    parts = []
    for params, record in recorded("fairzone/reread"):
        mean = record.counters.groupby("counter")["value"].mean()
        names = [f"read_cached_{part:02}" for part in range(PARTS)]
        if params.workload != "write-read":
            continue
        each = params.mib * PAGES_A_MIB * params.data_percent / 100 / PARTS
        frame = {"offset": [100 / PARTS * part for part in range(PARTS)]}
        frame |= {"cached": (100 * mean[names] / each).round(1).to_list()}
        parts.append(pd.DataFrame(frame).assign(run=_called(params)))
    return pd.concat(parts, ignore_index=True)


def _called(params: Reread) -> str:
    return params.mode if params.program == "stream" else f"{params.mode}, {params.program}"


def nodes() -> pd.DataFrame:
    """Every recorded reading on two nodes: what of memory and of the allocations is node 1's.

    The reader is on node 0; `beside.paces(1)` has those of a reader on node 1.

    Returns
    -------
    DataFrame
        A row a repeat: `MB/s` of the disk, `min_free_kbytes`, `mode`, `repeat`; `a nap`, pages that
        the disk moves in one of kswapd, over high - low of both nodes; `size`, node 1's part of the
        pages free at the start, `share`, its part of those given once memory was full, in per cent;
        `residency`, how many times as long a page of node 1 stays as one of node 0; `by naps`, runs
        of kswapd that began at a nap's end for want of the high watermark, in per cent.
    """
    rows = []
    for params, record in recorded("fairzone/nodes"):
        if params.workload != "read-once" or params.cpu_node != 0:
            continue
        wide = record.counters.pivot_table(index="step", columns="counter", values="value")
        of = {"MB/s": params.disk_mb_s, "min_free_kbytes": params.min_free_kib, "mode": params.mode}
        nap = nap_pages(params.disk_mb_s)
        for repeat, counted in wide.iterrows():
            rows.append({**of, "repeat": repeat} | _nodes(counted, nap))
    return pd.DataFrame(rows).sort_values(["MB/s", "mode", "repeat"], ignore_index=True)


def _nodes(counted: pd.Series, nap: int) -> dict[str, float]:
    free = [counted.filter(regex=f"^zone_{node}_.*_free$").sum() for node in (0, 1)]
    taken = [counted[f"read_pages_of_node{node}"] for node in (0, 1)]
    between = counted.filter(regex="_high$").sum() - counted.filter(regex="_low$").sum()
    quickly = counted["read_kswapd_high_wmark_hit_quickly"]
    return {
        "a nap": round(nap / between, 2),
        "size": round(100 * free[1] / sum(free), 1),
        "share": round(100 * taken[1] / sum(taken), 1),
        "residency": round(free[1] / taken[1] / (free[0] / taken[0]), 2),
        "by naps": round(100 * quickly / counted["read_pageoutrun"], 1),
    }


def written_nodes(cpu_node: int = 0) -> pd.DataFrame:
    """Every recorded write and read on two nodes: node 1's part, and what the read found.

    These are the policies of the patch; `node_hits.unpatched()` has the kernel without it.

    Parameters
    ----------
    cpu_node : int
        See `Nodes`: whether the reader is beside ZONE_DMA (0) or on the node of one zone (1).

    Returns
    -------
    DataFrame
        A row a mode, least and most of its runs: `hits`, of the pages read, `write` and `read`,
        node 1's part of the pages allocated meanwhile, and `by naps`, runs of kswapd while it was
        read that began at a nap's end, all in per cent; `size`, node 1's part of the pages free at
        the start, is the mean.
    """
    rows = {
        params.mode: written(params, record)
        for params, record in recorded("fairzone/nodes")
        if (params.workload, params.cpu_node) == ("write-read", cpu_node)
        and params.mode != "unpatched"
    }
    order = list(MODES)
    table = pd.DataFrame(rows).T.rename_axis("mode")
    return table.loc[sorted(table.index, key=order.index)].round(1)


def written(params: Nodes, record: Record) -> dict[str, float]:
    """A row of `written_nodes()`; node 1 is the one without the CPUs, as the guest numbers them."""
    wide = record.counters.pivot_table(index="step", columns="counter", values="value")
    naps = wide["read_kswapd_high_wmark_hit_quickly"] / wide["read_pageoutrun"]
    shares = {"hits": found_cached(params, record), "by naps": naps}
    for phase in ("write", "read"):
        near, far = (wide[f"{phase}_pages_of_node{node}"] for node in (0, 1))
        shares[phase] = far / (near + far)
    free = [wide.filter(regex=f"^zone_{node}_.*_free$").sum(axis=1) for node in (0, 1)]
    return {"size": 100 * (free[1] / sum(free)).mean()} | {
        f"{what}, {end}": 100 * getattr(share, end)()
        for what, share in shares.items()
        for end in ("min", "max")
    }


def found_cached(params: Nodes, record: Record) -> pd.Series:
    """The part of the pages read back that the disk did not read, by run."""
    pages = params.turnovers * params.mib * PAGES_A_MIB
    read = record.counters.query("counter == 'read_disk_read'").set_index("step")["value"]
    # The kernel reads ahead beyond the end of the data.
    return 1 - np.minimum(read / pages, 1)


def from_zone(slot: int) -> pd.Series:
    """Walks of each recorded log of a guest with Normal that a zone served, by mode.

    Parameters
    ----------
    slot : int
        The zone as the kernel numbers it, 0 for DMA.
    """
    served = {}
    for params, record in _logs("zones"):
        rows = record.counters.query("kind == 'walk' and zone == @slot")
        served[params.mode] = int(rows["count"].sum())
    return pd.Series(served)


def log_row(params: Followed, record: Record) -> dict[str, object]:
    """One row of `followed()`."""
    replay = judge.followed(params, record.counters)
    rows = record.counters[record.counters["kind"] == "walk"]
    each = rows["count"]
    refused = rows["low"].map(_bits) + rows["low2"].map(_bits)
    return {
        "mode": params.mode,
        "cpus": params.cpus,
        "counter": "exact" if params.exact else "per CPU",
        "walks": int(each.sum()),
        "resets": int(each[rows["flags"] & 2 > 0].sum()),
        "second passes": int(each[rows["passes"] > 1].sum()),
        "skipped": int((each * rows["skipped"].map(_bits)).sum()),
        "refused": int((each * refused).sum()),
        "batch known": int(replay.compared[:, BATCH].sum()),
        "same": int(replay.whole.sum()),
    }


def _bits(mask: int) -> int:
    return int(mask).bit_count()
