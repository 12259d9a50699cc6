"""Runs measured anew against recorded ones: the same passes, and a counter 30 % off does not."""

import re
from dataclasses import dataclass, field

import pytest
from click.testing import CliRunner

from lorelab import cli
from lorelab.experiments import Experiment, experiment, experiments
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.lab.run import DEFAULTS

MOVED = {
    "swap/cpus": "swpout",
    "swap/usemem": "bios",
    "swap/instructions": "swapin",
    "damon/masim": "wss",
    "damon/overhead": "checks_per_second",
    "damon/accuracy": "regions_mean",
    "damon/schemes": "windows",
    "damon/hotspot": "nr_regions",
    "vmalock/threads": "pgfault",
    "vmalock/taken": "faults",
    "vmalock/workloads": "faults",
    "vmalock/probed": "vma_lock_success",
    "gso/traffic": "sent",
    "gso/probed": "sent",
    "gso/tcp": "told",
    "gso/traced": "completions",
    "gso/vhost": "sent",
    "gso/broken": "complains",
    "gso/breakeven": "instructions",
    "gso/vhost-cost": "instructions",
    "fairzone/reread": "read_passes",
    "fairzone/probed": "zones.refaults",
}
"""A counter that is judged. Of a log (`followed`, `follow`) the tests of its judge change steps."""
LOGS = {"damon/follow", "damon/schemes-followed", "fairzone/followed", "vmalock/followed"}
LOGS |= {"vmalock/workloads-followed"}
GIVEN = {
    "damon/masim": {"workload": "whole", "mib": 16},
    "gso/breakeven": {"length": 1024, "zerocopy": False},
}
"""Runs that have repeats enough, and alike enough, to decide."""


def recorded(name):
    """The recorded run with the most values of the counter, and its parameters."""
    found = experiment(name)
    runs = records.recorded(name, found.Params)
    if name in GIVEN:
        runs = [found.Params(**GIVEN[name])]
    every = [(given, found.recorded(given)) for given in runs]

    def values(pair):
        counters = pair[1].counters
        return counters.loc[counters["counter"] == MOVED[name], "value"].gt(0).sum()

    return found, *max(every, key=values)


def test_every_judge_of_its_own_is_tried():
    judged = {
        name
        for name, found in experiments().items()
        if found._has("agree") and found._has("kernel")
    }
    assert judged == set(MOVED) | LOGS


@pytest.mark.parametrize("name", MOVED)
def test_a_record_is_as_it_was_and_a_counter_off_is_noticed(name):
    found, given, record = recorded(name)
    assert found.agree_with_record(given, record, record).verdict != AgreementVerdict.FAILED
    counters = record.counters
    off = counters["value"] * (1 + 0.3 * (counters["counter"] == MOVED[name]))
    held = found.agree_with_record(
        given, record, record._replace(counters=counters.assign(value=off))
    )
    assert held.verdict == AgreementVerdict.FAILED


@dataclass(frozen=True)
class Remembers(Experiment):
    """An experiment whose kernel says what was recorded."""

    asked: list = field(default_factory=list)

    def measure(self, requested, options=DEFAULTS):
        self.asked.extend(requested)
        return [self.recorded(given) for given in requested]


def test_verify_measures_damon(monkeypatch):
    """The random numbers of its kernel are no reason to leave it out."""
    one = experiment("damon/overhead")
    remembers = Remembers(one.name, one.question, one.Params)
    monkeypatch.setattr(cli, "experiments", lambda design: {one.name: remembers})
    result = CliRunner().invoke(cli.cli, ["lab", "verify", "damon"], catch_exceptions=False)
    assert len(remembers.asked) > 0
    said = r"(\d+) runs, of a kind each: (\d+) passed, 0 failed, (\d+) undecided, 0 no model\n"
    runs, passed, undecided = map(int, re.search(said, result.output).groups())
    # One run decides nothing where the model's do not differ from one another, and it does.
    assert runs == passed + undecided == len(remembers.asked)
    assert "left out" not in result.output


def test_there_is_a_run_to_verify_of_all_that_damon_measures():
    for name, found in experiments("damon").items():
        if "kernel" in found.backends:
            assert cli._sample(records.recorded(name, found.Params), cli.random.Random(1)), name
