"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.swap.experiments.allocator_test import simulate
from lorelab.swap.params import AllocatorTest


def room() -> tuple[pd.DataFrame, str]:
    """Folios of the kernel's test that 6.12 and 6.10 split, by the size of the device [%]."""
    sizes, variants = (64, 80, 96, 128, 256, 512), ("v6.12", "v6.10")
    runs = {
        (mib, variant): simulate(AllocatorTest(device_mib=mib, variant=variant, large_swapin=False))
        for variant in variants
        for mib in sizes
    }
    sums = {key: run.groupby("counter")["value"].sum() for key, run in runs.items()}
    percent = pd.DataFrame(
        {
            variant: {
                mib: 100 * sums[mib, variant]["swpout_fallback"] / sums[mib, variant].sum()
                for mib in sizes
            }
            for variant in variants
        }
    ).rename_axis("MiB")
    table = percent.round(1)
    none = percent.eq(0).idxmax()
    assert percent.loc[sizes[3], "v6.12"] == 0
    assert all(percent.loc[none[variant] :, variant].eq(0).all() for variant in variants)
    return table, (
        f"Of these sizes 6.12 splits none from {none['v6.12']} MiB on, and 6.10 from "
        f"{none['v6.10']} MiB on. On {sizes[3]} MiB 6.10 still splits "
        f"{percent.loc[sizes[3], 'v6.10']:.0f} %: it takes only clusters that are wholly free, "
        "and what is swapped in page by page rarely leaves one."
    )


def seeds() -> tuple[pd.DataFrame, str]:
    """The least, mean and most that 6.12 splits with twenty seeds [%]."""
    drawn = {
        seed: simulate(AllocatorTest(seed=seed, large_swapin=False))
        .groupby("counter")["value"]
        .sum()
        for seed in range(1, 21)
    }
    counted = pd.DataFrame(drawn).T
    spread = 100 * counted["swpout_fallback"] / counted.sum(axis=1)
    table = spread.describe().loc[["min", "mean", "max"]].round(2).rename("split, %")
    return table, (
        f"Seed 1 splits {spread[1]:.1f} %; {len(spread)} seeds split between "
        f"{spread.min():.1f} and {spread.max():.1f} %. "
        f"{(spread < spread[1]).sum()} of them split fewer than seed 1."
    )


def switches() -> tuple[pd.DataFrame, str]:
    """Folios swapped out whole and split, with one thing turned off at a time."""
    settings = ("slot_cache", "free_cache", "batched_zap", "stealing")
    changes = [{}, *({name: False} for name in settings)]
    tried = {
        next(iter(change), "as it is"): simulate(
            AllocatorTest(options="-s", large_swapin=False, **change)
        )
        .groupby("counter")["value"]
        .sum()
        for change in changes
    }
    sums = pd.DataFrame(tried).T[["swpout", "swpout_fallback"]]
    sums["split, %"] = (100 * sums["swpout_fallback"] / sums.sum(axis=1)).round(1)
    table = sums.rename_axis("without")
    moved = (sums["split, %"] - sums.loc["as it is", "split, %"]).drop("as it is")
    most = moved.abs().idxmax()
    others = sums["swpout_fallback"].drop(most) - sums.loc["as it is", "swpout_fallback"]
    return table, (
        f"Leaving out `{most}` moves it most, by {moved[most]:+.1f} points, the others by at most "
        f"{others.abs().max():.0f} folios. With stealing, "
        "a small folio that finds no slot in its own clusters takes one from a cluster of "
        "large folios."
    )
