"""How far apart a model run and a kernel run of the same experiment are, and what that means."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from lorelab import equivalence
from lorelab.errors import NoModel

REFUSED = 0.10
"""Deviation that a judgement has to refuse before what it lets pass has passed."""
ANEW = 0.001
"""Chance that a kernel as it was is told from the record in one comparison by means. A `lab verify`
of all designs makes some 50, so one of twenty of them says so of a right kernel."""
KEY = ["design", "experiment", "variant", "step", "counter", "unit"]


class AgreementVerdict(StrEnum):
    """What holding a kernel run against a model, or a record, came to."""

    PASSED = "passed"
    """Equal in every step, or so judged that a deviation of 10 % would have been refused."""
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Nothing contradicts it, but a deviation of 10 % would not have been refused either."""
    NO_MODEL = "no model"
    """The model has no answer for these parameters, so nothing was compared."""


@dataclass(frozen=True)
class Agreement:
    """What came of it, and how it was judged.

    Attributes
    ----------
    verdict : AgreementVerdict
    table : DataFrame
        One row a counter; column `agrees` says whether that one does.
    judged : str
        How it was judged, in one sentence.
    """

    verdict: AgreementVerdict
    table: pd.DataFrame
    judged: str


def no_model(why: str) -> Agreement:
    """Neither passed nor failed: there was nothing to compare with, and `why` says for what."""
    table = pd.DataFrame({"counter": [], "unit": [], "agrees": pd.Series([], dtype=bool)})
    return Agreement(AgreementVerdict.NO_MODEL, table, why)


def equal(model: pd.DataFrame, kernel: pd.DataFrame) -> Agreement:
    """Every step of every counter has to be there on both sides, and equal.

    Parameters
    ----------
    model, kernel : DataFrame
        Counters (see `lorelab.counters`) of a model and a kernel, or of a record and a run anew.

    Returns
    -------
    Agreement
        Its table as `summary()`.
    """
    joined = compare(model, kernel)
    table = summary(joined)
    verdict = AgreementVerdict.PASSED if exact(joined) else AgreementVerdict.FAILED
    same = int((joined["difference"] == 0).sum())
    judged = f"step by step, of {len(table)} counters: {same} of {len(joined)} values are equal"
    return Agreement(verdict, table, judged)


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
    """
    _check_variants(model, kernel)
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
    """
    rows = []
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
                "agrees": bool((group["difference"] == 0).all()),
            }
        )
    return pd.DataFrame(rows)


def intervals(model: pd.DataFrame, kernel: pd.DataFrame, per: str) -> pd.DataFrame:
    """Model against repeated kernel runs, counters as shares of the counter `per`.

    A counter agrees unless its ratio of means is shown to be other than 1 (at 95 % for all counters
    together, as in `by_means`) and is not shown to be within `REFUSED` of it. Where no repeat of
    either side differs from the others, the two have to be the same, if the kernel was asked more
    than once: how much one run of it scatters is not known. Where one mean is 0, no ratio says
    anything, and the ranges have to meet. The range of the kernel's repeats is shown beside:
    each of n falls below the kernel's median with a chance of one half, so the range misses that
    median with a chance of 2**(1 - n), whatever the distribution: 3 % with six repeats.

    Parameters
    ----------
    model : DataFrame
        Counters with one step, or repeats again, as those of an earlier measurement.
    kernel : DataFrame
        Counters, one step a repeat.
    per : str
        Counter that the others of its step are divided by.

    Returns
    -------
    DataFrame
        A row for each counter of either side: `counter`, `unit`, `repeats`, `model` and `mean`
        (means), `low` and `high` (least and most of the kernel's repeats), `agrees`, and
        `refuses`, the smallest deviation of the means that would have been refused, at 95 %. A
        counter that one side lacks does not agree, and its `refuses` is missing.

    Raises
    ------
    NoModel
        The model is of another variant.
    ValueError
        A side lacks the counter `per`.
    """
    _check_variants(model, kernel)
    said, measured = _runs(model, per), _runs(kernel, per)
    units = _units(model, kernel)
    rows = []
    names = _names(said, measured, per)
    for counter in names:
        sides = _values(said, counter), _values(measured, counter)
        found = ONE_SIDED if _one_sided(sides) else equivalence.ratio(*sides)
        rows.append(
            {
                "counter": counter,
                "unit": f"{units[counter]} / {units[per]}",
                "repeats": len(sides[1]),
                "model": sides[0].mean(),
                "mean": sides[1].mean(),
                "low": sides[1].min(),
                "high": sides[1].max(),
                "agrees": not _one_sided(sides) and _agrees(*sides, found, 1 - 0.05 / len(names)),
                "refuses": found.refuses,
            }
        )
    return pd.DataFrame(rows)


def by_interval(compared: pd.DataFrame, timing: tuple[str, ...] = ()) -> Agreement:
    """Judge what `intervals` found, counter by counter.

    Parameters
    ----------
    compared : DataFrame
        As `intervals` returns it.
    timing : tuple of str
        Counters that no model can give, as they follow from the order in which CPUs get on. Where
        their repeats are all the same, timing made no difference, and they are judged as any other.

    Returns
    -------
    Agreement
        The table with `judged`, False for those of `timing` whose repeats differ, and `refuses`, by
        which share the model would have to deviate to be refused. Passed if that is 10 % at most
        for all that are judged; a counter that one side lacks leaves it undecided.

    Raises
    ------
    ValueError
        No counter has a name of `timing`.
    """
    _known(timing, compared["counter"])
    table = compared.copy()
    table["judged"] = ~(table["counter"].isin(timing) & (table["low"] < table["high"]))
    judged = table[table["judged"]]
    decides = judged["refuses"] <= REFUSED
    lacking = judged["refuses"].isna()
    if not (judged["agrees"] | lacking).all():
        verdict = AgreementVerdict.FAILED
    else:
        verdict = (
            AgreementVerdict.PASSED if decides.all() and len(judged) else AgreementVerdict.UNDECIDED
        )
    said = (
        f"by means over repeats, {judged['agrees'].sum()} of {len(judged)} counters agree, and "
        f"{decides.sum()} of them would have refused a model {REFUSED:.0%} off, at 95 %"
    )
    if shown := ", ".join(table.loc[~table["judged"], "counter"]):
        said += f"; not judged, for timing alone decides: {shown}"
    return Agreement(verdict, table, said + _lacking(judged[lacking], "mean"))


def by_means(
    model: pd.DataFrame,
    kernel: pd.DataFrame,
    per: str | None = None,
    told: tuple[str, ...] = (),
    within: float = REFUSED,
    timing: tuple[str, ...] = (),
    chance: float = 0.05,
) -> Agreement:
    """Judge by the ratio of means over runs, counter by counter (`lorelab.equivalence`).

    A counter passes if its ratio is shown to be within `within` of 1 at 95 %, so that a larger
    deviation would have been refused. It fails if it is not, and its ratio is shown to be other
    than 1: at `1 - chance` for all counters together (Bonferroni), so that a right model fails in
    one comparison of twenty, however many counters that has. Otherwise it is undecided. More runs
    of either side only narrow the intervals.

    Parameters
    ----------
    model, kernel : DataFrame
        Counters (see `lorelab.counters`), one step a run.
    per : str, optional
        Counter that the others of its run are divided by first.
    told : tuple of str
        Counters that the model has from the kernel, or that follow from such; shown, not judged.
    within : float
        Deviation that has to be refused.
    timing : tuple of str
        Counters that follow from the order in which CPUs get on. Where the runs of a side differ in
        them, they are shown, not judged.
    chance : float
        That a right model fails.

    Returns
    -------
    Agreement
        Its table has, for each counter of either side, `counter`, `unit`, `runs` (of the kernel),
        `model_runs`, `model` and `kernel` (means), `ratio` (kernel over model), `low` and `high`
        (95 %), `refuses` (the smallest deviation that would have been refused), `verdict`
        (an `AgreementVerdict`, `told` or `timing`) and `agrees` (false where it failed). A counter
        that one side lacks is undecided and does not agree; its `refuses` is missing.

    Raises
    ------
    NoModel
        The model is of another variant.
    ValueError
        No counter has a name of `told` or `timing`, or a side lacks the counter `per`.
    """
    _check_variants(model, kernel)
    sides = [_runs(side, per) for side in (model, kernel)]
    names = _names(*sides, per)
    units = _units(model, kernel)
    _known((*told, *timing), names)
    aside = dict.fromkeys(told, "told")
    for name in timing:
        if any(len(set(_values(side, name))) > 1 for side in sides):
            aside[name] = "timing"
    judged = [name for name in names if name not in aside]
    rows = []
    for name in names:
        said, measured = both = [_values(side, name) for side in sides]
        if lacking := _one_sided(both):
            found, verdict = ONE_SIDED, AgreementVerdict.UNDECIDED
        else:
            found = equivalence.ratio(said, measured)
            apart = equivalence.ratio(said, measured, 1 - chance / max(1, len(judged)))
            verdict = _by_ratio(found, apart, within)
        verdict = aside.get(name) or str(verdict)
        rows.append(
            {
                "counter": name,
                "unit": f"{units[name]} / {units[per]}" if per else units[name],
                "runs": len(measured),
                "model_runs": len(said),
                "model": said.mean(),
                "kernel": measured.mean(),
                "ratio": found.estimate,
                "low": found.low,
                "high": found.high,
                "refuses": found.refuses,
                "verdict": verdict,
                "agrees": verdict != AgreementVerdict.FAILED and not lacking,
            }
        )
    table = pd.DataFrame(rows)
    verdict = worst(table.loc[table["counter"].isin(judged), "verdict"])
    passed = int((table["verdict"] == AgreementVerdict.PASSED).sum())
    sentence = (
        f"by means over runs: {passed} of {len(judged)} counters are shown to be within "
        f"{within:.0%} at 95 %"
    )
    if told_here := [name for name in names if aside.get(name) == "told"]:
        sentence += f"; the model was told {', '.join(told_here)}"
    if timed := [name for name in names if aside.get(name) == "timing"]:
        sentence += f"; not judged, for timing alone decides: {', '.join(timed)}"
    lacking = table["refuses"].isna() & table["counter"].isin(judged)
    return Agreement(verdict, table, sentence + _lacking(table[lacking], "kernel"))


def without(
    names: Sequence[str], model: pd.DataFrame, kernel: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both sides without counters that one of them cannot have.

    Raises
    ------
    ValueError
        No counter has one of `names`, or both sides have it.
    """
    has = [set(side["counter"]) for side in (model, kernel)]
    _known(names, has[0] | has[1])
    if both := [name for name in names if name in has[0] & has[1]]:
        raise ValueError(f"both sides have {', '.join(both)}")
    return tuple(side[~side["counter"].isin(names)] for side in (model, kernel))


def anew(
    recorded: pd.DataFrame,
    measured: pd.DataFrame,
    per: str | None = None,
    told: tuple[str, ...] = (),
    within: float = REFUSED,
    timing: tuple[str, ...] = (),
) -> Agreement:
    """Judge runs measured anew by their means and those of the recorded ones, as `by_means()`.

    One of many such comparisons, so a right kernel fails it with a chance of `ANEW`.
    """
    return by_means(recorded, measured, per, told, within, timing, ANEW)


def worst(verdicts: Sequence[str]) -> AgreementVerdict:
    """Of several verdicts: failed if one is, passed if all are; undecided too if there is none."""
    said = {AgreementVerdict(verdict) for verdict in verdicts}
    if AgreementVerdict.FAILED in said:
        return AgreementVerdict.FAILED
    passed = said == {AgreementVerdict.PASSED}
    return AgreementVerdict.PASSED if passed else AgreementVerdict.UNDECIDED


def _by_ratio(
    found: equivalence.Ratio, apart: equivalence.Ratio, within: float
) -> AgreementVerdict:
    if found.within(within):
        return AgreementVerdict.PASSED
    if np.isnan(found.estimate):
        return AgreementVerdict.FAILED  # 0 on one side alone
    return AgreementVerdict.UNDECIDED if apart.low <= 1 <= apart.high else AgreementVerdict.FAILED


def _agrees(
    said: pd.Series, measured: pd.Series, found: equivalence.Ratio, confidence: float
) -> bool:
    if np.isnan(found.estimate):
        return bool(said.min() <= measured.max() and measured.min() <= said.max())
    if said.nunique() == measured.nunique() == 1 and len(measured) > 1:
        return found == equivalence.EQUAL
    apart = equivalence.ratio(said, measured, confidence)
    return _by_ratio(found, apart, REFUSED) != AgreementVerdict.FAILED


def _check_variants(model: pd.DataFrame, kernel: pd.DataFrame) -> None:
    """Raise NoModel for a kernel, such as one of a reader, that is none of what was modelled."""
    said, measured = (sorted(set(side["variant"])) for side in (model, kernel))
    if said and measured and set(said).isdisjoint(measured):
        names = ", ".join(measured), ", ".join(said)
        raise NoModel(
            "the kernel is {}, and the model is of {}: nothing is compared".format(*names)
        )


ONE_SIDED = equivalence.Ratio(np.nan, np.nan, np.nan)
"""Of a counter that one side lacks."""


def _one_sided(sides: Sequence[pd.Series]) -> bool:
    return not all(map(len, sides))


def _values(side: pd.DataFrame, counter: str) -> pd.Series:
    """A counter's runs; none where the side lacks it."""
    return side[counter].dropna() if counter in side else pd.Series(dtype=float)


def _units(model: pd.DataFrame, kernel: pd.DataFrame) -> pd.Series:
    return pd.concat([kernel, model]).drop_duplicates("counter").set_index("counter")["unit"]


def _names(model: pd.DataFrame, kernel: pd.DataFrame, per: str | None) -> list[str]:
    """Counters of either side, those of the kernel first, without what others are divided by."""
    return [name for name in dict.fromkeys([*kernel, *model]) if name != per]


def _known(given: Sequence[str], names: Collection[str]) -> None:
    """Raise for a name that no counter has: what it was to set aside is judged under another."""
    if wrong := [name for name in given if name not in set(names)]:
        raise ValueError(f"no counter is called {', '.join(wrong)}")


def _lacking(rows: pd.DataFrame, kernel: str) -> str:
    """Say which counters one side lacks, where it does; `kernel` is the column with its means."""
    said = ""
    for side, column in (("kernel", "model"), ("model", kernel)):
        if names := ", ".join(rows.loc[rows[column].isna(), "counter"]):
            said += f"; not compared, for only the {side} has it: {names}"
    return said


def _runs(counters: pd.DataFrame, per: str | None) -> pd.DataFrame:
    runs = counters.pivot_table(index="step", columns="counter", values="value", sort=False)
    if per is not None:
        _known((per,), runs.columns)
    return runs.div(runs[per], axis="index") if per else runs


def exact(joined: pd.DataFrame) -> bool:
    """True when every step of every counter is there on both sides and equal."""
    return len(joined) > 0 and bool((joined["difference"] == 0).all())
