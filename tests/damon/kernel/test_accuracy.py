"""What several runs come to."""

from lorelab.damon.kernel import accuracy as kernel_accuracy
from lorelab.damon.kernel import boot
from lorelab.damon.params import Accuracy
from lorelab.damon.workload import accuracy
from lorelab.lab import run
from lorelab.lab.records import Record
from tests.damon.logged import played


def test_accuracy_has_figures_of_each_run_and_distributions_over_all(monkeypatch):
    class Booted:
        def record(self, name, params, counters, run):
            return Record(counters, (name, run))

    params = Accuracy(workload="zigzag", runs=2)
    monkeypatch.setattr(run, "measure", lambda request, options: Booted())
    monkeypatch.setattr(kernel_accuracy, "logged", lambda each, measured, first: [played()] * 2)
    [record] = kernel_accuracy.measure([params])
    said = record.counters.set_index("counter")
    assert said.loc["runs", "step"].tolist() == [1, 2]
    for name, one in accuracy.distributions(params, boot.observation(played())).items():
        mine = said.loc[[name]]
        assert dict(zip(mine["step"], mine["value"], strict=True)) == (2 * one).to_dict()
    # 19 windows, of a region that is accessed in each sample and one that never is.
    assert said.loc["windows_by_regions", ["step", "value"]].tolist() == [2, 38]
    assert said.loc["regions_by_count", ["step", "value"]].to_numpy().tolist() == [
        [0, 38],
        [20, 38],
    ]
