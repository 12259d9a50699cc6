"""The ledger: what a thread states, how each statement is checked, and what came of it.

A verdict is never typed in. A claim names a function that weighs the evidence (the printed
figures, the model's counters, a recorded kernel run) and returns a `Weighed`; the ledger runs it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec

import pandas as pd

from lorelab.experiments import designs
from lorelab.judging.threads import FOLDER
from lorelab.progress import track

COLUMNS = ["design", "id", "statement", "place", "check", "verdict", "why", "evidence"]


class ClaimVerdict(StrEnum):
    """What a check can say."""

    HOLDS = "holds"
    OTHER_NUMBER = "holds with another number"
    CONTRADICTED = "contradicted"
    ARITHMETIC = "arithmetic only"
    NOT_TESTABLE = "not testable here"
    OPEN = "no verdict yet"


@dataclass(frozen=True)
class Weighed:
    """A verdict, one sentence why, and the evidence as named figures.

    `judgement` marks a verdict that nothing here computes, so that no evidence could turn it; the
    evidence then has the figures that it rests on.
    """

    verdict: ClaimVerdict
    why: str
    evidence: dict[str, object]
    judgement: bool = False


Weigh = Callable[[], Weighed]
"""A check: weighs the evidence for one claim."""


@dataclass(frozen=True)
class Claim:
    """One figure or statement of a thread.

    Attributes
    ----------
    design, id : str
        Design, and a name that is unique in it.
    statement : str
        What is claimed, in our words, with its figure and unit.
    place : str
        Rows of data/threads, or the lines of the thread, that state it.
    check : str
        How it is checked.
    weigh : Weigh
        Weighs the evidence.
    """

    design: str
    id: str
    statement: str
    place: str
    check: str
    weigh: Weigh


def not_weighed() -> Weighed:
    """The check of a claim that waits for one.

    Examples
    --------
    >>> str(not_weighed().verdict)
    'no verdict yet'
    """
    return Weighed(ClaimVerdict.OPEN, "Nobody has weighed it yet.", {}, judgement=True)


def open_questions(design: str) -> list[Claim]:
    """Questions and objections of a thread that wait for a check: data/threads/questions."""
    rows = pd.read_csv(FOLDER / f"questions/{design}.csv", dtype=str, keep_default_na=False)
    waits = "nobody has weighed it yet"
    return [Claim(design, *row, waits, not_weighed) for row in rows.itertuples(index=False)]


def claims(design: str | None = None) -> list[Claim]:
    """All claims of a design, or of every design in the order of the book.

    They are `CLAIMS` of `lorelab.DESIGN.thread.claims`.

    Examples
    --------
    >>> [claim.id for claim in claims("gso")][:2]
    ['base-bandwidth', 'patched-bandwidth']
    """
    rooms = [f"lorelab.{name}.thread" for name in designs(design)]
    modules = [
        f"{room}.claims" for room in rooms if find_spec(room) and find_spec(f"{room}.claims")
    ]
    return [claim for module in modules for claim in import_module(module).CLAIMS]


def ledger(chosen: list[Claim]) -> pd.DataFrame:
    """Weigh each claim; one row each, columns as in `COLUMNS`.

    Examples
    --------
    >>> weigh = lambda: Weighed(ClaimVerdict.HOLDS, "There are.", {"slots": 3})
    >>> claim = Claim("swap", "tiny", "There are 3 slots.", "mail 2", "counted", weigh)
    >>> ledger([claim])[["id", "verdict", "why", "evidence"]]
         id verdict         why evidence
    0  tiny   holds  There are.  slots 3
    """
    rows = []
    for claim in track(chosen, "weighing the claims"):
        outcome = claim.weigh()
        evidence = "; ".join(f"{name} {_shown(value)}" for name, value in outcome.evidence.items())
        why = f"A judgement: {outcome.why}" if outcome.judgement else outcome.why
        weighed = (str(outcome.verdict), why, evidence)
        stated = (claim.design, claim.id, claim.statement, claim.place, claim.check)
        rows.append((*stated, *weighed))
    return pd.DataFrame(rows, columns=COLUMNS)


def _shown(value: object) -> str:
    # What differs from 0 by a rounding error is 0.
    return f"{round(value, 12) + 0.0:.4g}" if isinstance(value, float) else str(value)
