"""Tables that the page of the kernel shows, from recorded runs."""

import pandas as pd

from lorelab.experiments import experiment
from lorelab.fairzone.agree import followed as judge
from lorelab.fairzone.params import Followed
from lorelab.lab import records
from lorelab.lab.records import Record


def recorded(name: str) -> list[tuple[Followed, Record]]:
    """Every recorded run of an experiment, with its parameters."""
    asked = experiment(name)
    return [(params, asked.recorded(params)) for params in records.recorded(name, asked.Params)]


def followed() -> pd.DataFrame:
    """Every recorded log: its walks, resets and passes, and how many walks are the model's.

    Returns
    -------
    DataFrame
        A row a record: `mode`, `cpus`, `counter` (a CPU's part of the counters, or exact), `walks`,
        `resets`, `second passes`, `skipped` zones, `refused` (zones refused for a watermark),
        `same`, the walks that are the model's in every respect.
    """
    rows = []
    for params, record in recorded("fairzone/followed"):
        rows.append(told(params, record))
    order = list(Followed.model_fields["mode"].annotation.__args__)
    table = pd.DataFrame(rows)
    place = table["mode"].map(order.index)
    return table.assign(place=place).sort_values(["cpus", "place", "counter"]).drop(
        columns="place"
    ).reset_index(drop=True)  # fmt: skip


def from_zone(slot: int) -> pd.Series:
    """Walks of each recorded log that a zone served, by mode.

    Parameters
    ----------
    slot : int
        The zone as the kernel numbers it, 0 for DMA.
    """
    served = {}
    for params, record in recorded("fairzone/followed"):
        rows = record.counters.query("kind == 'walk' and zone == @slot")
        served[params.mode] = int(rows["count"].sum())
    return pd.Series(served)


def told(params: Followed, record: Record) -> dict[str, object]:
    """One row of `followed()`."""
    same = judge.followed(params, record.counters)[0]
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
        "same": int(same.min(axis=1).sum()),
    }


def _bits(mask: int) -> int:
    return int(mask).bit_count()
