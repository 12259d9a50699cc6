"""Region for region: the model given the kernel's own random numbers and access checks.

Everything else that kdamond does follows from those, the process' mappings and the attributes; so
the model, with the same numbers, must report the same regions with the same counts and ages, window
after window. What a kernel gave it is read by `lorelab.damon.kernel.follow`.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon.agree.runs import judged
from lorelab.damon.kernel import boot, follow
from lorelab.damon.kernel.follow import Inputs
from lorelab.damon.model import kdamond, replay, state
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.params import Masim
from lorelab.errors import NoModel
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.params import label


def agree(params: Masim, record: Record) -> Agreement:
    """Every region of every window has to be the same."""
    table = compared(params, record).assign(detectable=0.0)
    return judged(table, "region for region, in start, end, count and age")


def compared(params: Masim, measured: Record) -> pd.DataFrame:
    """Windows in which every region of model and kernel is the same in start, end, count, age.

    Of 7.3, too, those in which every address that was sampled is the same.

    Raises
    ------
    NoModel
        The kernel is of another release than the variant.
    """
    if measured.provenance and not _of(params, measured.provenance.kernel.release):
        raise NoModel(
            f"the kernel is {measured.provenance.kernel.release}, and the model is of "
            f"{label(params.variant)}: nothing is compared"
        )
    windows = followed(params, follow.unpack(measured.counters, params)).windows
    names = {"windows": "equal"}
    if params.variant.traits.own_random:
        names["windows_sampled"] = "drawn"
    rows = [
        (name, "windows", len(windows), windows[of].sum(), bool(windows[of].all()))
        for name, of in names.items()
    ]
    return pd.DataFrame(rows, columns=["counter", "unit", "kernel", "equal", "agrees"])


def _of(params: Masim, release: str) -> bool:
    """Whether a kernel is of the release whose DAMON the variant is: 7.3, or 6.12."""
    return release.startswith(f"{params.variant.traits.release}.")


class Followed(NamedTuple):
    """How far the model and the kernel are the same."""

    windows: pd.DataFrame
    """A row a window: nr_regions, merges, splits (so far), equal; of 7.3, drawn: whether all the
    addresses sampled are the same."""
    checks: int
    """Checks that went into it."""


def followed(params: Masim, inputs: Inputs) -> Followed:
    """Run the model on what the kernel was given, and compare the regions of each window.

    Raises
    ------
    ValueError
        The model asks for more numbers or checks than there are.
    """
    ctx, pages = begin(params, inputs)
    rows = []
    for number, window in enumerate(replay.follow(ctx, pages, inputs.windows)):
        row = {name: getattr(window, name) for name in ("nr_regions", "merges", "splits", "equal")}
        if inputs.drawn:
            row["drawn"] = follow.crc(np.concatenate(window.addresses)) == inputs.drawn[number]
        rows.append(row)
    return Followed(pd.DataFrame(rows), len(inputs.checks))


def sampled(params: Masim, run: boot.Run, inputs: Inputs) -> tuple[int, int]:
    """Hold every region and address sampled, of a whole log, against the model's.

    Returns
    -------
    samples, equal : int
        Samples, and those of them in which all regions and addresses are the same.
    """
    ctx, pages = begin(params, inputs)
    drawn = run.log[(run.log["kind"] == boot.RAND) & (run.log["x"] != 1)]
    at = samples = equal = windows = 0
    while windows < len(inputs.windows):
        kdamond.kdamond_prepare(ctx, pages)
        mine = regions(ctx)
        kernels = drawn[at : at + len(mine)]
        at += len(mine)
        samples += 1
        equal += bool(
            len(kernels) == len(mine)
            and (mine["start"] == kernels["x"]).all()
            and (mine["end"] == kernels["y"]).all()
            and (mine["sampling_addr"] == kernels["x"] + kernels["n"]).all()
        )
        ctx.info["now"] += ctx.info["sample_interval"]
        windows += kdamond.kdamond_check(ctx, pages) >= 0
    return samples, equal


def begin(params: Masim, inputs: Inputs, schemes=None, mapped=(), goals=None):
    """Model and memory as monitoring begins; `mapped` as new_pages() takes mappings."""
    ctx = state.damon_new_ctx(
        [(0, *mapping) for mapping in inputs.mappings],
        **boot.attributes(params),
        variant=params.variant,
        numbers=inputs.numbers,
        static=np.array([inputs.last_nr_regions, inputs.rotation], np.uint64),
        rnd_state=inputs.rnd_state,
        schemes=schemes,
        goals=goals,
    )
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), mapped, recorded=inputs.checks)
    kdamond.kdamond_start(ctx, pages)
    return ctx, pages


def regions(ctx) -> np.ndarray:
    """The regions of the only target, as REGION rows in order."""
    head = len(ctx.regions) - 1
    order, i = [], int(ctx.regions[head]["next"])
    while i != head:
        order.append(i)
        i = int(ctx.regions[i]["next"])
    return ctx.regions[order]
