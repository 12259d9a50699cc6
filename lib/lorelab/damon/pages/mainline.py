"""What `mainline.ipynb` shows of recorded runs on a 7.3 of Debian's, region for region."""

import re

import pandas as pd

from lorelab.damon.agree import follow as agree_follow
from lorelab.damon.kernel import follow as logs
from lorelab.damon.kernel.boot import QEMU_TLB
from lorelab.damon.pages import kernel_views as record_views
from lorelab.damon.pages.today import SEARCH
from lorelab.damon.params import Hotspot, Masim, Variant
from lorelab.experiments import experiment
from lorelab.judging import kunit, reproduced
from lorelab.lab import records
from lorelab.numerics import PAGE
from lorelab.params import to_cli

PLAIN = {
    name: Masim.model_fields[name].default for name in ("variant", "tlb", "switch_us", "workload")
}
"""What all of these runs have, or a column of its own, so that a table leaves it out."""
FRESH = Masim(
    variant=Variant.V7_3,
    tlb=QEMU_TLB,
    switch_us=5_000,
    workload="turns",
    mib=1,
    min_regions=1000,
    fresh=True,
)
"""Two halves of 128 pages each, touched together for a second and then in turn."""
FEW = {"workload": "zigzag-30secs", "max_regions": 20, "tlb": QEMU_TLB}


def recorded() -> list[tuple[str, Masim]]:
    """Release and parameters of every run on a 7.3."""
    runs = records.others(logs.NAME, Masim)
    return [(release, params) for release, params in runs if params.variant is Variant.V7_3]


def windows(release: str, params: Masim) -> dict[str, object]:
    """One recorded run against the model."""
    record = records.load(logs.NAME, params, release=release)
    both = agree_follow.followed(params, logs.unpack(record.counters, params))
    compared, most = both.windows, params.max_regions
    return {
        "boot": record.provenance.date,
        "place": record.provenance.run_in_boot,
        "program": params.workload,
        "settings": to_cli(params.model_copy(update=PLAIN), " "),
        "windows": len(compared),
        "equal": int(compared["equal"].sum()),
        "addresses equal": int(compared["drawn"].sum()),
        "checks": both.checks,
        "least": compared["nr_regions"].min(),
        "most": compared["nr_regions"].max(),
        "above half": int(compared["nr_regions"].between(most // 2 + 1, most - 1).sum()),
        "merges": compared["merges"].max(),
        "splits": compared["splits"].max(),
    }


def all_windows() -> pd.DataFrame:
    """`windows` of every run, in the order in which they were made."""
    runs = pd.DataFrame([windows(*run) for run in recorded()])
    return runs.sort_values(["boot", "place"], ignore_index=True).drop(columns=["boot", "place"])


def few_regions() -> pd.DataFrame:
    """Regions of a recorded run at a bound of 20, which both releases have, held against the model.

    Returns
    -------
    DataFrame
        By release: `windows`, how many are `equal` to the model's, the `least` and `most` regions
        of a window, and `merges` and `splits` in all of them.
    """
    old = Masim(**FEW)
    new = [
        run for run in recorded() if run[1] == Masim(**FEW, variant=Variant.V7_3, switch_us=5_000)
    ]
    rows = {}
    for release, params in [(None, old), *new]:
        record = records.load(logs.NAME, params, release=release)
        compared = agree_follow.followed(params, logs.unpack(record.counters, params)).windows
        regions = compared["nr_regions"]
        rows[record.provenance.kernel.release] = {
            "windows": len(compared),
            "equal": int(compared["equal"].sum()),
            "least": regions.min(),
            "most": regions.max(),
            "merges": compared["merges"].max(),
            "splits": compared["splits"].max(),
        }
    return pd.DataFrame(rows).T.rename_axis("kernel")


def untouched(release: str) -> pd.DataFrame:
    """Pages of one half while the program touches only the other, in the recorded run `FRESH`.

    Returns
    -------
    DataFrame
        A row a window; pages that were seen `never`, `in some` samples, and `in all` of them.
    """
    table = records.load(logs.NAME, FRESH, release=release).counters
    truth, reported = record_views.accesses(table), record_views.reports(table)
    before, now = truth.iloc[-2], truth.iloc[-1]
    reported = reported[(reported["begin"] >= now["begin"]) & (reported["end"] <= now["end"])]
    # The half that was touched before, without the pages that it shares with others.
    low, high = (int(before["low"]) // PAGE + 1) * PAGE, int(before["high"]) // PAGE * PAGE
    reported = reported[(reported["low"] >= low) & (reported["high"] <= high)]
    assert (reported["high"] - reported["low"] == PAGE).all()
    count = reported["nr_accesses"]
    samples = {"never": count == 0, "in all": count == FRESH.samples}
    samples = pd.DataFrame({**samples, "in some": ~(samples["never"] | samples["in all"])})
    return (
        samples.groupby(reported["end"])
        .sum()
        .reset_index(drop=True)[["never", "in some", "in all"]]
    )


def split_in_three() -> pd.DataFrame:
    """Share of a run's windows that split regions three ways, of one kdamond and of one of two.

    Returns
    -------
    DataFrame
        `kdamonds`, and `share` in per cent; a row a recorded run.
    """
    rows = []
    for kdamonds in (1, 2):
        params = Hotspot(**SEARCH, kdamonds=kdamonds)
        counted = experiment("damon/hotspot").recorded(params).counters
        share = counted.loc[counted["counter"] == "in_three", "value"]
        rows += [{"kdamonds": kdamonds, "share": 100 * value} for value in share]
    return pd.DataFrame(rows)


def ring_in_use() -> dict[str, int]:
    """Aggregations in which an AF_PACKET ring in use counted, by each 7.3.4: first those without.

    What reproduce.py of the finding damon/pages-on-no-list printed of its control, a ring of 1 MiB.
    """
    return {
        answer.built: int(re.search(r"(\d+) KiB in use", answer.text)[1]) // 1024
        for answer in reproduced.newest("damon/pages-on-no-list")
        if answer.source.kernel.release == "7.3.4"
    }


def sizes_beside() -> pd.DataFrame:
    """What reproduce.py of the finding damon/shared-last-count said, of each kernel that ran it.

    Returns
    -------
    DataFrame
        Mean size of a kdamond's regions in KiB, `alone` and `beside` another kdamond; a row a
        `kernel` and a `shared` variable that tells.
    """
    pattern = r"(count|turn): (\d+) KiB alone, (\d+) KiB beside"
    names = {"count": "last_nr_regions", "turn": "rotation"}
    rows = [
        {"kernel": answer.kernel, "shared": names[case], "alone": int(alone), "beside": int(beside)}
        for answer in reproduced.newest("damon/shared-last-count")
        for case, alone, beside in re.findall(pattern, answer.text)
    ]
    return pd.DataFrame(rows)


def split_tests() -> dict[str, str]:
    """What the kunit test of the finding damon/shared-last-count came to, by kernel."""
    return {one.kernel: one.verdict for one in kunit.recorded("damon/shared-last-count")}
