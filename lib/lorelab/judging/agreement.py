"""How far apart a model run and a kernel run of the same experiment are, and what that means.

There is one judge, `Agreement.of`: a row a counter (`lorelab.judging.rows.ROW`), a verdict for each
row, and the worst of these for all. What differs is how rows are made:

- `equal`, step by step, where chance has no part in either side.
- `by_means`, where both sides draw, or measure, runs of their own: the ratio of their means has to
  be shown to be near 1, and how far each run lies from the next says how near that can be shown.
- `by_interval`, where it is the kernel that scatters, and the model is one run or several that are
  alike. Two sides of which neither scatters have to be the same there, as in `equal`: a deviation
  of 5 % of what never changes is no agreement, and to `by_means` it is near enough. Its table has
  the range of the kernel's repeats, in which the model's one value can be found.
- A design's own, in its `agree/`, such as counters that follow from a program.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from lorelab.judging.rows import (
    EQUIVALENCE_MARGIN,
    ROW,
    by_run,
    check_names,
    check_variants,
    compare,
    means,
    names_of,
    say_lacking,
    scattered,
    summary,
)

VERIFY_ALPHA = 0.001
"""Chance that a kernel as it was is told from the record in one comparison by means. A `lab verify`
of all designs makes some 50, so one of twenty of them says so of a right kernel."""
INPUT, IDENTITY, TIMING = "input", "identity", "timing"
"""Why a counter is shown and not judged, a row's mark. `INPUT`: the model was given the kernel's
value, or it follows from one that it was given. `IDENTITY`: nothing that is on trial, a model or a
probe, has a part in it; what stands beside the kernel's value is a sum of its other counters, or
what a probe counts at the very call that the kernel's patch counts at. One that differs is judged,
and fails. `TIMING`: timing alone decides."""
SAID_OF = {
    INPUT: "input of the model, or what follows from it",
    IDENTITY: "identities, and not counted",
    TIMING: "not judged, for timing alone decides",
}
"""How a judgement says which counters it leaves out."""


class AgreementVerdict(StrEnum):
    """What holding a kernel run against a model, or a record, came to."""

    PASSED = "passed"
    """Equal in every step, or so judged that a deviation of 10 % would have been detected."""
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Nothing contradicts it, but a deviation of 10 % would not have been refused either."""
    NO_MODEL = "no model"
    """The model has no answer for these parameters, or is another kernel's: nothing is compared."""


WORST_FIRST = [
    AgreementVerdict.FAILED,
    AgreementVerdict.UNDECIDED,
    AgreementVerdict.PASSED,
    AgreementVerdict.NO_MODEL,
]
"""What several verdicts come to: the first of these that is among them. Runs that have no model say
nothing of those that have one."""


@dataclass(frozen=True)
class Agreement:
    """What came of it, and how it was judged.

    Attributes
    ----------
    verdict : AgreementVerdict
    table : DataFrame
        One row a counter, with `lorelab.judging.rows.ROW`, what else there is to show, and its
        `verdict`: an `AgreementVerdict`, or why it is shown and not judged: `input`, `identity`
        or `timing`. An identity that does not hold is judged, and fails.
    method : str
        How it was judged, in one sentence; it names the counters that have a mark.
    """

    verdict: AgreementVerdict
    table: pd.DataFrame
    method: str

    @property
    def judged(self) -> pd.DataFrame:
        """The rows that were judged: those that have a verdict, and not a mark."""
        return self.table[self.table["verdict"].isin(list(AgreementVerdict))]

    @classmethod
    def of(
        cls,
        rows: pd.DataFrame,
        method: str,
        aside: Mapping[str, str] | None = None,
        within: float = EQUIVALENCE_MARGIN,
    ) -> "Agreement":
        """Judge rows, however they were made: by means, step by step, or what has to hold always.

        Parameters
        ----------
        rows : DataFrame
            One a counter, with all columns of `lorelab.judging.rows.ROW`.
        method : str
            How they were made.
        aside : dict of str to str, optional
            Counters that are shown, not judged, and why: a key of `SAID_OF`. One of `IDENTITY` that
            does not agree is judged all the same.
        within : float
            Deviation that has to be refused.

        Raises
        ------
        ValueError
            Rows lack one of the columns, or no counter has a name of `aside`.
        """
        if lacking := [name for name in ROW if name not in rows]:
            raise ValueError(f"rows of an agreement lack {', '.join(lacking)}")
        check_names(tuple(aside or ()), rows["counter"])
        wrong = set(rows.loc[~rows["agrees"].astype(bool), "counter"])
        aside = {
            name: mark
            for name, mark in (aside or {}).items()
            if mark != IDENTITY or name not in wrong
        }
        reached = list(zip(rows["counter"], verdicts(rows, within), strict=True))
        named = [aside.get(name, str(verdict)) for name, verdict in reached]
        judged = [verdict for name, verdict in reached if name not in aside]
        for mark, words in SAID_OF.items():
            if names := [name for name in rows["counter"] if aside.get(name) == mark]:
                method += f"; {words}: {', '.join(names)}"
        return cls(worst(judged), rows.assign(verdict=named), method)


def verdicts(rows: pd.DataFrame, within: float = EQUIVALENCE_MARGIN) -> list[AgreementVerdict]:
    """What each row comes to.

    Parameters
    ----------
    rows : DataFrame
        `agrees`, and `detectable`, the smallest deviation that would have been refused, at 95 %
        where chance has a part in it: 0 where both sides have to be the same, missing where one
        side lacks the counter.
    within : float
        Deviation that has to be refused.

    Returns
    -------
    list of AgreementVerdict
        Undecided where one side lacks the counter, failed where it does not agree, passed where a
        deviation of `within` would have been detected, and undecided where it would not.

    Examples
    --------
    >>> rows = pd.DataFrame({"agrees": [True, True, False], "detectable": [0.02, 0.4, 0.02]})
    >>> [str(verdict) for verdict in verdicts(rows)]
    ['passed', 'undecided', 'failed']
    """
    return [
        _verdict(bool(agrees), detectable, within)
        for agrees, detectable in zip(rows["agrees"], rows["detectable"], strict=True)
    ]


def _verdict(agrees: bool, detectable: float, within: float) -> AgreementVerdict:
    if np.isnan(detectable):
        return AgreementVerdict.UNDECIDED
    if not agrees:
        return AgreementVerdict.FAILED
    return AgreementVerdict.PASSED if detectable <= within else AgreementVerdict.UNDECIDED


def no_model(why: str) -> Agreement:
    """Neither passed nor failed: there was nothing to compare with, and `why` says for what.

    Examples
    --------
    >>> str(no_model("memory cgroups are not modelled").verdict)
    'no model'
    """
    columns = [*ROW, "verdict"]
    table = pd.DataFrame(columns=columns).astype({"agrees": bool, "detectable": float})
    return Agreement(AgreementVerdict.NO_MODEL, table, why)


def equal(model: pd.DataFrame, kernel: pd.DataFrame, unmeasured: Collection[str] = ()) -> Agreement:
    """Every step of every counter that both sides have has to be there on both, and equal.

    Parameters
    ----------
    model, kernel : DataFrame
        Counters (see `lorelab.counters`) of a model and a kernel, or of a record and a run anew.
    unmeasured : collection of str
        Counters that nobody may have measured in this run. Those of them that the kernel lacks are
        not compared, and `method` names them.

    Returns
    -------
    Agreement
        Its table as `summary()`, in which any deviation is `detectable`. Any other counter that one
        side lacks is a row of it, undecided, and named in `method`. Undecided too if there is
        nothing on either side.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> model = table("swap/tiny", "v6.12", "model", {"failed": ("allocations", [0, 3])})
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"failed": ("allocations", [0, 4])})
    >>> agreement = equal(model, kernel)
    >>> print(agreement.verdict, "-", agreement.method)
    failed - step by step, of 1 counters: 1 of 2 values are equal
    """
    measured = set(kernel["counter"])
    absent = [
        name for name in model["counter"].unique() if name in unmeasured and name not in measured
    ]
    model = model[~model["counter"].isin(absent)]
    joined = compare(model, kernel)
    one_sided = set(model["counter"]) ^ measured
    table = summary(joined)
    table["detectable"] = np.where(table["counter"].isin(one_sided), np.nan, 0.0)
    same = int((joined["difference"] == 0).sum())
    method = f"step by step, of {len(table)} counters: {same} of {len(joined)} values are equal"
    lacking = joined[joined["counter"].isin(one_sided)].drop_duplicates("counter")
    method += say_lacking(lacking)
    return Agreement.of(table, f"{method}; not measured: {', '.join(absent)}" if absent else method)


def by_interval(
    compared: pd.DataFrame, timing: tuple[str, ...] = (), inputs: tuple[str, ...] = ()
) -> Agreement:
    """Judge what `intervals` gives, counter by counter.

    Parameters
    ----------
    compared : DataFrame
        As `intervals` returns it.
    timing : tuple of str
        Counters that no model can give, as they follow from the order in which CPUs get on. Where
        their repeats are all the same, timing made no difference, and they are judged as any other.
    inputs : tuple of str
        Counters that the model was given from the kernel, or that follow from such; shown, not
        judged.

    Returns
    -------
    Agreement
        The table; those of `timing` whose repeats differ are not judged. Passed if `detectable`, by
        which share the model would have to deviate to be refused, is 10 % at most for all that
        are; a counter that one side lacks leaves it undecided.

    Raises
    ------
    ValueError
        No counter has a name of `timing` or `inputs`.

    Examples
    --------
    >>> from lorelab.judging.rows import intervals
    >>> from lorelab.counters import table
    >>> repeats = {"written": ("pages", [100] * 4), "faults": ("faults", [50, 51, 50, 52])}
    >>> kernel = table("swap/tiny", "v6.12", "kernel", repeats)
    >>> agreement = by_interval(intervals(kernel, kernel, per="written"))
    >>> agreement.table[["counter", "agrees", "verdict"]]
      counter  agrees verdict
    0  faults    True  passed
    >>> str(agreement.verdict)
    'passed'
    """
    check_names((*timing, *inputs), compared["counter"])
    by_timing = compared["counter"].isin(timing) & (compared["least"] < compared["most"])
    aside = dict.fromkeys(compared.loc[by_timing, "counter"], TIMING) | dict.fromkeys(inputs, INPUT)
    judged = compared[~compared["counter"].isin(aside)]
    decides = judged["detectable"] <= EQUIVALENCE_MARGIN
    sentence = (
        f"by means over repeats, {judged['agrees'].sum()} of {len(judged)} counters agree, and "
        f"{decides.sum()} of them would have refused a model {EQUIVALENCE_MARGIN:.0%} off, at 95 %"
    )
    lacking = judged[judged["detectable"].isna()]
    return Agreement.of(compared, sentence + say_lacking(lacking), aside)


def by_means(
    model: pd.DataFrame,
    kernel: pd.DataFrame,
    per: str | None = None,
    inputs: tuple[str, ...] = (),
    within: float = EQUIVALENCE_MARGIN,
    timing: tuple[str, ...] = (),
    alpha: float = 0.05,
) -> Agreement:
    """Judge by the ratio of means over runs, counter by counter (`lorelab.judging.equivalence`).

    A counter passes if its ratio is shown to be within `within` of 1 at 95 %, so that a larger
    deviation would have been detected. It fails if it is not, and its ratio is shown to be other
    than 1: at `1 - alpha` for all counters together (Bonferroni), so that a right model fails in
    one comparison of twenty, however many counters that has. Otherwise it is undecided. More runs
    of either side only narrow the intervals.

    Parameters
    ----------
    model, kernel : DataFrame
        Counters (see `lorelab.counters`), one step a run.
    per : str, optional
        Counter that the others of its run are divided by first.
    inputs : tuple of str
        Counters that the model was given from the kernel, or that follow from such; shown, not
        judged.
    within : float
        Deviation that has to be refused.
    timing : tuple of str
        Counters that follow from the order in which CPUs get on. Where the runs of a side differ in
        them, they are shown, not judged.
    alpha : float
        That a right model fails.

    Returns
    -------
    Agreement
        Its table has, for each counter of either side, `counter`, `unit`, `runs` (of the kernel),
        `model_runs`, `model` and `kernel` (means), `kernel/model`, `low` and `high` (between which
        that is, 95 %), `detectable` (the smallest deviation that would have been detected) and
        `agrees` (false where it failed, or would have if it were judged). A counter that one side
        lacks is undecided and does not agree; its `detectable` is missing.

    Raises
    ------
    NoModel
        The model is of another variant.
    ValueError
        No counter has a name of `inputs` or `timing`, or a side lacks the counter `per`.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> model = table("swap/tiny", "v6.12", "model", {"faults": ("faults", [100, 101, 99, 100])})
    >>> kernel = table("swap/tiny", "v6.12", "kernel", {"faults": ("faults", [103, 104, 102, 103])})
    >>> agreement = by_means(model, kernel)
    >>> agreement.table[["counter", "kernel/model", "verdict"]]
      counter  kernel/model verdict
    0  faults          1.03  passed
    >>> agreement.method
    'by means over runs: 1 of 1 counters are shown to be within 10% at 95 %'
    """
    check_variants(model, kernel)
    sides = [by_run(side, per) for side in (model, kernel)]
    check_names((*inputs, *timing), names_of(*sides, per))
    by_timing = [name for side in sides for name in scattered(side, timing)]
    aside = dict.fromkeys(inputs, INPUT) | dict.fromkeys(by_timing, TIMING)
    table = means(model, kernel, per, aside, within, alpha)
    judged = table[~table["counter"].isin(aside)]
    passed = verdicts(judged, within).count(AgreementVerdict.PASSED)
    sentence = (
        f"by means over runs: {passed} of {len(judged)} counters are shown to be within "
        f"{within:.0%} at 95 %"
    )
    sentence += say_lacking(judged[judged["detectable"].isna()])
    return Agreement.of(table, sentence, aside, within)


def compare_runs(
    recorded: pd.DataFrame,
    measured: pd.DataFrame,
    per: str | None = None,
    inputs: tuple[str, ...] = (),
    within: float = EQUIVALENCE_MARGIN,
    timing: tuple[str, ...] = (),
) -> Agreement:
    """Judge runs measured anew by their means and those of the recorded ones, as `by_means()`.

    One of many such comparisons, so a right kernel fails it with a chance of `VERIFY_ALPHA`.

    Examples
    --------
    >>> from lorelab.counters import table
    >>> faults = {"faults": ("faults", [100, 101, 99, 100])}
    >>> recorded = table("swap/tiny", "v6.12", "kernel", faults)
    >>> str(compare_runs(recorded, recorded.assign(value=recorded["value"] * 2)).verdict)
    'failed'
    """
    return by_means(recorded, measured, per, inputs, within, timing, VERIFY_ALPHA)


def worst(verdicts: Collection[str]) -> AgreementVerdict:
    """Of several verdicts the first in `WORST_FIRST`; undecided if there is none.

    Examples
    --------
    >>> str(worst(["passed", "undecided"])), str(worst(["undecided", "failed"])), str(worst([]))
    ('undecided', 'failed', 'undecided')
    >>> str(worst(["no model", "passed"]))
    'passed'
    """
    distinct = {AgreementVerdict(verdict) for verdict in verdicts}
    return next((one for one in WORST_FIRST if one in distinct), AgreementVerdict.UNDECIDED)
