"""swap/swapout on a kernel: what is recorded, which is the model's, and what is counted live.

Live counts have to be those of the record, with no margin: the guest's clock is the number of its
instructions, and no time is among what is counted.
"""

import pytest

from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import probes, records
from lorelab.lab.run import RunOptions
from lorelab.params import parse
from lorelab.swap.experiments import swapout
from lorelab.swap.params import ForceSplit, Swapout
from tests.swap.experiments.test_swapout import FOLIOS

FOUND = experiment("swap/swapout")
RECORDED = records.recorded(FOUND.name, Swapout)

PARTLY = [
    {"dropped": dropped, "requests": requests, "force_split": force_split, "folios": 32}
    for dropped, force_split in ((15, "none"), (15, "partially-mapped"), (8, "none"))
    for requests in (1, 32)
]


def test_every_path_is_recorded():
    recorded = [params.model_dump() for params in RECORDED]
    for changes in [*(changes for changes, _ in FOLIOS.values()), *PARTLY]:
        wanted = parse(Swapout, changes).model_dump(exclude={"folios"})
        assert any(wanted == {k: r[k] for k in wanted} for r in recorded), changes
    assert {params.force_split for params in RECORDED if params.dropped} == set(ForceSplit)


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_a_record_equals_the_model(params):
    kernel = FOUND.recorded(params).counters
    assert exact(compare(FOUND.simulate(params), kernel))


def test_live_equals_the_record(patched):
    """Boots the patched kernel, and counts what was counted before."""
    patched("swap")
    wanted = [Swapout(), Swapout(force_split=ForceSplit.NOT_PMD_MAPPED, split_batching=False)]
    for params, live in zip(wanted, FOUND.measure(wanted), strict=True):
        assert live.counters.equals(FOUND.recorded(params).counters)
        assert live.provenance.icount


def test_a_probe_tells_who_split(patched):
    """Boots the unmodified kernel: `shrink_folio_list()` and the shrinker have a count each."""
    patched("swap")
    params = Swapout(folios=32, dropped=15, requests=32)
    [live] = FOUND.measure([params], RunOptions(probes=("reclaim",)))
    assert live.counters.equals(FOUND.recorded(params).counters)
    seen = probes.counters("swap/swapout", "v6.12", live.probes)
    seen = seen[seen["step"] == 0].set_index("counter")["value"]
    model = swapout.count(params)
    assert seen["reclaim.splits_1"] == model["shrinker_splits"] == 22
    assert seen["reclaim.splits_0"] == model["splits"] - model["shrinker_splits"]
    assert seen["reclaim.lost"] == 0
