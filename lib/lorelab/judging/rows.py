"""Rows of two counter tables held against each other, which `lorelab.judging.agreement` judges."""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from lorelab.errors import NoModel
from lorelab.judging import equivalence

EQUIVALENCE_MARGIN = 0.10
"""Deviation that a judgement has to refuse before what it lets pass has passed."""
ROW = ["counter", "unit", "agrees", "detectable"]
"""What each row of an agreement has, however it was made: whether model and kernel agree in a
counter, and which deviation would have been refused (`lorelab.judging.agreement.verdicts`). Where
each side has one value or a mean of them, these are `model` and `kernel`."""
KEY = ["design", "experiment", "variant", "step", "counter", "unit"]
ONE_SIDED = equivalence.Ratio(np.nan, np.nan, np.nan)
"""Of a counter that one side lacks."""


def compare(model: pd.DataFrame, kernel: pd.DataFrame) -> pd.DataFrame:
    """Join two counter tables step by step.

    Returns
    -------
    DataFrame
        `KEY`, `model`, `kernel` and `difference` (model minus kernel); a step or counter that
        only one side has shows as a missing value.

    Raises
    ------
    NoModel
        The model is of another variant.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> model = table("swap/tiny", "v6.12", "model", {"failed": ("allocations", [0, 3])})
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"failed": ("allocations", [0, 4])})
    >>> compare(model, kernel)[["step", "counter", "model", "kernel", "difference"]]
       step counter  model  kernel  difference
    0     1  failed      0       0           0
    1     2  failed      3       4          -1
    """
    check_variants(model, kernel)
    joined = (
        model[[*KEY, "value"]]
        .rename(columns={"value": "model"})
        .merge(
            kernel[[*KEY, "value"]].rename(columns={"value": "kernel"}),
            on=KEY,
            how="outer",
            sort=False,
            validate="one_to_one",
        )
    )
    return joined.assign(difference=joined["model"] - joined["kernel"])


def summary(joined: pd.DataFrame) -> pd.DataFrame:
    """One row a counter: steps compared, equal, on one side only, and the largest difference.

    It `agrees` if all are equal, and none is on one side only.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> model = table("swap/tiny", "v6.12", "model", {"failed": ("allocations", [0, 3])})
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"failed": ("allocations", [0, 4])})
    >>> summary(compare(model, kernel))[["counter", "steps", "equal", "largest_difference"]]
      counter  steps  equal  largest_difference
    0  failed      2      1                 1.0
    """
    rows = []
    names = ["counter", "unit", "steps", "equal", "largest_difference", "one_sided", "agrees"]
    for counter, group in joined.groupby("counter", sort=False):
        both = group.dropna(subset=["model", "kernel"])
        rows.append(
            {
                "counter": counter,
                "unit": group["unit"].iloc[0],
                "steps": len(both),
                "equal": int((both["difference"] == 0).sum()),
                "largest_difference": float(both["difference"].abs().max()) if len(both) else None,
                "one_sided": len(group) - len(both),
                "agrees": exact(group),
            }
        )
    return pd.DataFrame(rows, columns=names)


def exact(joined: pd.DataFrame) -> bool:
    """True when every step of every counter is there on both sides and equal.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> model = table("swap/tiny", "v6.12", "model", {"failed": ("allocations", [0, 3])})
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"failed": ("allocations", [0, 4])})
    >>> exact(compare(model, kernel)), exact(compare(model, model))
    (False, True)
    """
    return len(joined) > 0 and bool((joined["difference"] == 0).all())


def intervals(
    model: pd.DataFrame, kernel: pd.DataFrame, per: str, aside: Collection[str] = ()
) -> pd.DataFrame:
    """Model against repeated kernel runs, counters as shares of the counter `per`.

    A counter agrees unless its ratio of means is shown to be other than 1 (at 95 % for all together
    that are judged, as in `means`) and is not shown to be within `EQUIVALENCE_MARGIN` of it. Where
    no repeat of either side differs from the others, the two have to be the same, if the kernel was
    asked more than once: how much one run of it scatters is not known. Where one mean is 0, no
    ratio says anything, and the ranges have to meet. The range of the kernel's repeats is shown
    beside: each of n falls below the kernel's median with a chance of one half, so the range misses
    that median with a chance of 2**(1 - n), whatever the distribution: 3 % with six repeats.

    Parameters
    ----------
    model : DataFrame
        Counters with one step, or repeats again, as those of an earlier measurement.
    kernel : DataFrame
        Counters, one step a repeat.
    per : str
        Counter that the others of its step are divided by.
    aside : collection of str
        Counters that are shown and not judged, so that the others are no less likely to fail.

    Returns
    -------
    DataFrame
        A row for each counter of either side: `counter`, `unit`, `runs` (repeats of the kernel),
        `model` and `kernel` (means), `least` and `most` of the kernel's repeats, `agrees`, and
        `detectable`, the smallest deviation of the means that would have been detected, at 95 %. A
        counter that one side lacks does not agree, and its `detectable` is missing.

    Raises
    ------
    NoModel
        The model is of another variant.
    ValueError
        A side lacks the counter `per`.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> counted = {"written": ("pages", [100, 100]), "faults": ("faults", [50, 52])}
    >>> kernel = table("swap/tiny", "v6.12", "kernel", counted)
    >>> model = kernel[kernel["step"] == 1].assign(source="model")
    >>> table = intervals(model, kernel, per="written")
    >>> table[["counter", "unit", "runs", "model", "kernel", "agrees"]]
      counter            unit  runs  model  kernel  agrees
    0  faults  faults / pages     2    0.5    0.51    True
    """
    check_variants(model, kernel)
    modelled, measured = by_run(model, per), by_run(kernel, per)
    units = units_of(model, kernel)
    rows = []
    names = names_of(modelled, measured, per)
    confidence = _confidence(names, aside)
    for counter in names:
        sides = values(modelled, counter), values(measured, counter)
        ratio = ONE_SIDED if is_one_sided(sides) else equivalence.ratio(*sides)
        rows.append(
            {
                "counter": counter,
                "unit": f"{units[counter]} / {units[per]}",
                "runs": len(sides[1]),
                "model": sides[0].mean(),
                "kernel": sides[1].mean(),
                "least": sides[1].min(),
                "most": sides[1].max(),
                "agrees": _same_or_near(*sides, ratio, confidence),
                "detectable": ratio.detectable,
            }
        )
    return pd.DataFrame(rows)


def means(
    model: pd.DataFrame,
    kernel: pd.DataFrame,
    per: str | None = None,
    aside: Collection[str] = (),
    within: float = EQUIVALENCE_MARGIN,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Means of runs of both sides, as `lorelab.judging.agreement.by_means` judges them.

    Parameters
    ----------
    aside : collection of str
        Counters that are shown and not judged, so that the others are no less likely to fail.
    model, kernel, per, within, alpha
        As `by_means` has them.

    Returns
    -------
    DataFrame
        As `by_means` says, without verdicts.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"faults": ("faults", [50, 52])})
    >>> means(kernel, kernel)[["counter", "unit", "runs", "model_runs", "kernel/model", "agrees"]]
      counter    unit  runs  model_runs  kernel/model  agrees
    0  faults  faults     2           2           1.0    True
    """
    check_variants(model, kernel)
    modelled, measured = by_run(model, per), by_run(kernel, per)
    units = units_of(model, kernel)
    rows = []
    names = names_of(modelled, measured, per)
    confidence = _confidence(names, aside, alpha)
    for counter in names:
        sides = values(modelled, counter), values(measured, counter)
        ratio = ONE_SIDED if is_one_sided(sides) else equivalence.ratio(*sides)
        rows.append(
            {
                "counter": counter,
                "unit": f"{units[counter]} / {units[per]}" if per else units[counter],
                "runs": len(sides[1]),
                "model_runs": len(sides[0]),
                "model": sides[0].mean(),
                "kernel": sides[1].mean(),
                "kernel/model": ratio.estimate,
                "low": ratio.low,
                "high": ratio.high,
                "detectable": ratio.detectable,
                "agrees": agrees(*sides, ratio, confidence, within),
            }
        )
    return pd.DataFrame(rows)


def _confidence(names: Sequence[str], aside: Collection[str], alpha: float = 0.05) -> float:
    # Bonferroni: that a right model fails in any of those that are judged.
    return 1 - alpha / max(1, sum(name not in aside for name in names))


def scattered(runs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Those of some counters whose runs differ, in a table as `by_run` gives it.

    Examples
    --------
    >>> scattered(pd.DataFrame({"faults": [5, 6], "flushes": [7, 7]}), ["flushes", "faults"])
    ['faults']
    """
    return [name for name in names if len(set(values(runs, name))) > 1]


def without(
    names: Sequence[str], model: pd.DataFrame, kernel: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both sides without counters that one of them cannot have.

    Raises
    ------
    ValueError
        No counter has one of `names`, or both sides have it.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> model = table("swap/tiny", "v6.12", "model", {"slots": ("slots", [8]), "lists": ("", [2])})
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"slots": ("slots", [8])})
    >>> [list(side["counter"]) for side in without(["lists"], model, kernel)]
    [['slots'], ['slots']]
    """
    has = [set(side["counter"]) for side in (model, kernel)]
    check_names(names, has[0] | has[1])
    if both := [name for name in names if name in has[0] & has[1]]:
        raise ValueError(f"both sides have {', '.join(both)}")
    return tuple(side[~side["counter"].isin(names)] for side in (model, kernel))


def agrees(
    model: pd.Series,
    kernel: pd.Series,
    ratio: equivalence.Ratio,
    confidence: float,
    within: float = EQUIVALENCE_MARGIN,
) -> bool:
    """Whether the ratio is shown to be within `within` of 1, or is not shown to be other than 1.

    Examples
    --------
    >>> model, kernel = pd.Series([100.0, 101, 99]), pd.Series([130.0, 131, 129])
    >>> agrees(model, kernel, equivalence.ratio(model, kernel), confidence=0.95)
    False
    """
    if is_one_sided((model, kernel)):
        return False
    if np.isnan(ratio.estimate):  # 0 on one side alone
        return bool(model.min() <= kernel.max() and kernel.min() <= model.max())
    apart = equivalence.ratio(model, kernel, confidence)
    return bool(ratio.within(within) or apart.low <= 1 <= apart.high)


def _same_or_near(
    model: pd.Series, kernel: pd.Series, ratio: equivalence.Ratio, confidence: float
) -> bool:
    if model.nunique() == kernel.nunique() == 1 and len(kernel) > 1:
        return ratio == equivalence.EQUAL
    return agrees(model, kernel, ratio, confidence)


def check_variants(model: pd.DataFrame, kernel: pd.DataFrame) -> None:
    """Raise NoModel for a kernel, such as one of a reader, that is none of what was modelled.

    Examples
    --------
    >>> check_variants(pd.DataFrame({"variant": ["v6.12"]}), pd.DataFrame({"variant": ["v7.3"]}))
    Traceback (most recent call last):
    lorelab.errors.NoModel: the kernel is v7.3, and the model is of v6.12: nothing is compared
    """
    modelled, measured = (sorted(set(side["variant"])) for side in (model, kernel))
    if modelled and measured and set(modelled).isdisjoint(measured):
        names = ", ".join(measured), ", ".join(modelled)
        raise NoModel(
            "the kernel is {}, and the model is of {}: nothing is compared".format(*names)
        )


def is_one_sided(sides: Sequence[pd.Series]) -> bool:
    """Whether a side has no run of a counter.

    Examples
    --------
    >>> is_one_sided((pd.Series([1.0, 2.0]), pd.Series([], dtype=float)))
    True
    """
    return not all(map(len, sides))


def values(side: pd.DataFrame, counter: str) -> pd.Series:
    """A counter's runs; none where the side lacks it.

    Examples
    --------
    >>> list(values(pd.DataFrame({"faults": [50.0, None]}), "faults"))
    [50.0]
    """
    return side[counter].dropna() if counter in side else pd.Series(dtype=float)


def units_of(model: pd.DataFrame, kernel: pd.DataFrame) -> pd.Series:
    """Unit of each counter of either side.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> counted = {"written": ("pages", [100, 100]), "faults": ("faults", [50, 52])}
    >>> kernel = table("swap/tiny", "v6.12", "kernel", counted)
    >>> units_of(kernel, kernel).to_dict()
    {'written': 'pages', 'faults': 'faults'}
    """
    return pd.concat([kernel, model]).drop_duplicates("counter").set_index("counter")["unit"]


def names_of(model: pd.DataFrame, kernel: pd.DataFrame, per: str | None) -> list[str]:
    """Counters of either side, those of the kernel first, without what others are divided by.

    Examples
    --------
    >>> names_of(pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"c": [1], "b": [2]}), per="b")
    ['c', 'a']
    """
    return [name for name in dict.fromkeys([*kernel, *model]) if name != per]


def check_names(names: Sequence[str], counters: Collection[str]) -> None:
    """Raise for a name that no counter has: what it was to set aside is judged under another.

    Examples
    --------
    >>> check_names(["flushs"], ["flushes", "faults"])
    Traceback (most recent call last):
    ValueError: no counter is called flushs
    """
    if wrong := [name for name in names if name not in set(counters)]:
        raise ValueError(f"no counter is called {', '.join(wrong)}")


def say_lacking(rows: pd.DataFrame) -> str:
    """Say which counters one side lacks, where it does: there its mean is missing.

    Examples
    --------
    >>> say_lacking(pd.DataFrame({"counter": ["lists"], "model": [2.0], "kernel": [None]}))
    '; not compared, for only the model has it: lists'
    """
    sentence = ""
    for side, other in (("kernel", "model"), ("model", "kernel")):
        if names := ", ".join(rows.loc[rows[other].isna(), "counter"]):
            sentence += f"; not compared, for only the {side} has it: {names}"
    return sentence


def by_run(counters: pd.DataFrame, per: str | None) -> pd.DataFrame:
    """A row a run, a column a counter, each divided by the counter `per` if that is given.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> counted = {"written": ("pages", [100, 100]), "faults": ("faults", [50, 52])}
    >>> kernel = table("swap/tiny", "v6.12", "kernel", counted)
    >>> by_run(kernel, per="written")["faults"].tolist()
    [0.5, 0.52]
    """
    runs = counters.pivot_table(index="step", columns="counter", values="value", sort=False)
    if per is not None:
        check_names((per,), runs.columns)
    return runs.div(runs[per], axis="index") if per else runs
