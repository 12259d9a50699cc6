"""The registry: functions follow from names, and a half that has no module does not exist."""

import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from lorelab import experiments as registry
from lorelab.counters import table
from lorelab.errors import BadInput, NoModel
from lorelab.experiments import Experiment, experiments
from lorelab.judging.agreement import Agreement, AgreementVerdict
from lorelab.params import Params, param

ASKED = Experiment("swap/no-such", "Is it there?", Params)


@pytest.fixture
def rooms(monkeypatch):
    """Modules of the experiment by room, which have what they are given."""
    found = {}

    def has(name):
        if name.split(".")[2] == "nowhere":
            raise ModuleNotFoundError
        return found.get(name)

    load = registry.import_module
    monkeypatch.setattr(registry, "find_spec", has)
    monkeypatch.setattr(registry, "import_module", lambda name: found.get(name) or load(name))

    def add(room, **functions):
        module = ModuleType(room)
        vars(module).update(functions)
        found[f"lorelab.swap.{room}.no_such"] = module

    return add


def counted(*values):
    return table("swap/no-such", "v", "kernel", {"it": ("1", values)})


def test_listing_loads_neither_numba_nor_the_laboratory():
    program = (
        "import sys; from lorelab.experiments import experiments; "
        "print([found.backends for found in experiments().values()]); "
        "sys.exit(', '.join(m for m in sys.modules if m in ('numba', 'lorelab.lab')) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_experiment_has_a_half_and_a_function_behind_each():
    for found in experiments().values():
        assert found.backends
        for half, room, function in (
            ("model", "experiments", "simulate"),
            ("kernel", "kernel", "measure"),
        ):
            if half in found.backends:
                assert callable(found._function(room, function))


def test_what_is_not_there_is_named(rooms):
    assert ASKED.backends == ""
    with pytest.raises(BadInput, match="swap/no-such has no model half; use `lorelab kernel"):
        ASKED.simulate(Params())
    with pytest.raises(BadInput, match="swap/no-such has no kernel half; use `lorelab model"):
        ASKED.measure([Params()])
    with pytest.raises(BadInput, match="swap/no-such has no model half to agree with"):
        ASKED.check_agrees()
    assert not Experiment("nowhere/x", "", Params)._has("kernel")


def test_halves_are_asked_with_what_they_take(rooms):
    rooms("experiments", simulate=lambda params: counted(1, 2))
    rooms("kernel", measure=lambda requested, options: [(requested, options.probes)])
    assert ASKED.backends == "model and kernel"
    assert ASKED.simulate(Params()).equals(counted(1, 2))
    assert ASKED.measure([Params()]) == [([Params()], ())]


def test_without_a_word_of_its_own_every_step_has_to_be_equal(rooms):
    rooms("experiments", simulate=lambda params: counted(1, 2))
    same, other = (SimpleNamespace(counters=counted(*values)) for values in ((1, 2), (1, 3)))
    assert ASKED.agree(Params(), same).verdict == AgreementVerdict.PASSED
    assert ASKED.agree(Params(), other).verdict == AgreementVerdict.FAILED
    assert ASKED.agree_with_record(Params(), same, same).verdict == AgreementVerdict.PASSED
    assert ASKED.agree_with_record(Params(), same, other).verdict == AgreementVerdict.FAILED


def test_an_experiment_may_judge_by_itself(rooms):
    held = Agreement(AgreementVerdict.UNDECIDED, counted(1), "by chance")
    rooms("agree", agree=lambda params, record: held)
    ASKED.check_agrees()
    assert ASKED.agree(Params(), None) is held


def test_a_run_measured_anew_is_held_against_the_model_or_as_the_experiment_says(rooms):
    held = Agreement(AgreementVerdict.UNDECIDED, counted(1), "by chance")
    asked = []
    rooms("agree", agree=lambda *of: asked.append(of) or held)
    assert ASKED.agree_with_record("params", "recorded", "measured") is held
    rooms("agree", agree_with_record=lambda *of: asked.append(of) or held)
    assert ASKED.agree_with_record("params", "recorded", "measured") is held
    assert asked == [("params", "measured"), ("params", "recorded", "measured")]


def test_what_is_only_measured_anew_agrees_with_no_model(rooms):
    rooms("agree", agree_with_record=lambda *of: None)
    with pytest.raises(BadInput, match="no model half to agree with"):
        ASKED.agree(Params(), None)


class Halves(Params):
    cost: int = param(5, "what the model takes it to cost", only="model")
    cgroups: bool = param(False, "what the model has no idea of", only="kernel")


def test_a_value_that_a_half_does_not_read_is_refused_by_it(rooms):
    halves = Experiment("swap/no-such", "Is it there?", Halves)
    rooms("experiments", simulate=lambda params: counted(1, 2))
    rooms("kernel", measure=lambda requested, options: requested)
    given = Halves(cgroups=True)
    assert halves.measure([given]) == [given]
    with pytest.raises(NoModel, match="cgroups=true: only the kernel reads it; leave it out, or"):
        halves.simulate(given)
    given = Halves(cost=6)
    assert halves.simulate(given).equals(counted(1, 2))
    with pytest.raises(BadInput, match="cost=6: only the model reads it; leave it out, or use"):
        halves.measure([Halves(), given])


def test_what_has_no_model_has_neither_passed_nor_failed(rooms):
    halves = Experiment("swap/no-such", "Is it there?", Halves)
    rooms("experiments", simulate=lambda params: counted(1, 2))
    same = SimpleNamespace(counters=counted(1, 2))
    assert halves.agree(Halves(), same).verdict == AgreementVerdict.PASSED
    held = halves.agree(Halves(cgroups=True), same)
    assert held.verdict == AgreementVerdict.NO_MODEL and not len(held.table)
    assert "cgroups=true" in held.method
    assert list(held.table.columns) == ["counter", "unit", "agrees", "detectable", "verdict"]


def test_an_experiment_may_say_that_it_has_no_model_for_a_value(rooms):
    def refuse(*of):
        raise NoModel("mode=odd: has no model")

    rooms("agree", agree=refuse)
    for held in (ASKED.agree(Params(), None), ASKED.agree_with_record(Params(), None, None)):
        assert (held.verdict, held.method) == (AgreementVerdict.NO_MODEL, "mode=odd: has no model")
