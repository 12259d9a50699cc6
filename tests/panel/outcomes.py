"""What becomes of a point in a page, and whether its counters are those of the library."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.params import Params
from tests.panel.points import Point, drawn

RUN = """async ([about, typed, seconds]) => {
  const run = lorelabPanel.start(about, typed, () => {});
  const late = setTimeout(run.cancel, 1000 * seconds);
  try {
    return [lorelabPanel.csv(await run.ran), ""];
  } catch (error) {
    return ["", error.message];
  } finally {
    clearTimeout(late);
  }
}"""
"""Takes what `show.about` gives, a point as typed, and how long it may take."""
EQUAL, FAILS, LARGE, LONG, DIFFERENT = OUTCOMES = (
    "equal", "fails in both", "over 1 GiB", "too long", "different",
)  # fmt: skip
TRIED = 4
"""Points that are tried for each that has to be equal: of one panel, two in five take more memory
than a page has."""
Runs = Callable[[dict[str, str]], list[str]]
"""Runs a point as typed, and gives what `RUN` does."""


def outcome(question: str, params: Params, ran: list[str]) -> str:
    """What became of a point: one of `OUTCOMES`.

    The library runs only what the panel ended.

    Parameters
    ----------
    question : str
    params : Params
    ran : list of str
        What `RUN` gives: the counters as CSV, or what the panel says instead.
    """
    counters, said = ran
    if said == "cancelled":
        return LONG
    if said.startswith("out of memory: "):
        return LARGE
    try:
        expected = experiment(question).simulate(params).to_csv(index=False)
    except RunFailed:
        return FAILS if said.startswith("these values do not go together") else DIFFERENT
    return EQUAL if counters == expected else DIFFERENT


def outcomes(question: str, points: Iterable[Point], run: Runs) -> Iterator[str]:
    """What became of each point; RunFailed at the first that differs."""
    for params, typed in points:
        became = outcome(question, params, run(typed))
        if became == DIFFERENT:
            raise RunFailed(f"{question}: the page counts other than the library: {typed}")
        yield became


def equal(question: str, number: int, run: Runs) -> int:
    """How many points are equal, of those drawn until `number` are, or `TRIED` times as many."""
    found = 0
    for became in outcomes(question, islice(drawn(question, seed=number), TRIED * number), run):
        found += became == EQUAL
        if found == number:
            break
    return found
