"""Points of the panels: what differs is not equal, and what is kept is of what is here."""

import pytest

from bench import equal
from lorelab.errors import RunFailed
from lorelab.experiments import experiment
from lorelab.panel import kept
from lorelab.params import parse
from lorelab.showing import benches
from tests.panel.outcomes import EQUAL, FAILS, LARGE, LONG, outcomes

QUESTION = "gso/lifetimes"
TYPED = {"segments": "1"}
STATUS = "these values do not go together; the command below says why"


def became(ran):
    point = (parse(experiment(QUESTION).Params, TYPED), TYPED)
    [each] = outcomes(QUESTION, [point], lambda typed: ran)
    return each


def test_what_became_of_a_point():
    counters = experiment(QUESTION).simulate(parse(experiment(QUESTION).Params, TYPED))
    text = counters.to_csv(index=False)
    assert became([text, ""]) == EQUAL
    assert became(["", "cancelled"]) == LONG
    assert became(["", "out of memory: these values take more"]) == LARGE
    for ran in ([text.replace("0\n", "1\n", 1), ""], ["", STATUS], ["", "the run died: killed"]):
        with pytest.raises(RunFailed, match="counts other than the library"):
            became(ran)


def test_what_fails_in_both(monkeypatch):
    def fails(params):
        raise RunFailed("no page is free")

    monkeypatch.setattr(experiment(QUESTION).__class__, "simulate", lambda _, params: fails(params))
    assert became(["", STATUS]) == FAILS


@pytest.mark.skipif(
    not (benches.FOLDER / "equal.json").exists(), reason="python -m bench --keep equal was not run"
)
def test_the_kept_points_are_of_the_panels_that_are_here():
    [table] = benches.read("equal").tables.values()
    rows = table.set_index("panel")
    assert rows.index.tolist() == kept.panels()
    assert set(rows["equal"]) == {str(equal.POINTS)}
    assert dict(rows["rests on"]) == {each: equal.rests_on(each) for each in kept.panels()}
