"""Memory that comes as it is first accessed."""

import pytest

from lorelab.damon.kernel import boot
from lorelab.damon.model.program import play
from lorelab.damon.model.state import U
from lorelab.damon.model.young import damon_va_young, pages_prepare
from lorelab.damon.pages import studies, views
from lorelab.damon.params import Masim
from lorelab.damon.workload.masim import OWN
from lorelab.damon.workload.setup import configuration, memory
from lorelab.errors import BadInput

PAGE = 4096


def unlisted(pages):
    """Those of a sequence of new pages that are in the CPU's batch at its end."""
    batch = []
    for page in pages:
        batch.append(page)
        if len(batch) == 31:
            batch.clear()
    return batch


@pytest.mark.parametrize("mib", [1, 2, 3, 7, 62])
def test_the_last_batch_is_not_seen(mib):
    params = Masim(workload="whole", mib=mib, fresh=True)
    config = configuration(params)
    pages = memory(params, config)
    pages_prepare(pages)
    play(pages, U(10**9))
    memory_ = pages.info[0], pages.patterns, pages.own, pages.flags, pages.recorded
    start = int(pages.patterns["start"][0])
    touched = [start // PAGE + n for n in range(int(pages.patterns["around"][0]))]
    hidden = [page for page in touched if not damon_va_young(*memory_, U(page * PAGE))]
    # malloc() has been to the first page; the first page of the log comes before the others.
    assert hidden == unlisted(["log", *touched[1:]])
    assert damon_va_young(*memory_, U(OWN[0][0]))


def test_each_page_counts_all_or_nothing():
    params = Masim(workload="whole", mib=1, min_regions=1000, fresh=True)
    rows = views.history(params, 2)
    low, high = (at // PAGE * PAGE for at in studies.addresses(configuration(params), "a"))
    rows = rows[(rows["stage"] == "reported") & (rows["window"] == 2)]
    rows = rows[(rows["low"] >= low) & (rows["high"] <= high)]
    assert set(rows["high"] - rows["low"]) == {PAGE}
    counts = rows.sort_values("low")["nr_accesses"].to_numpy()
    seen = counts == 20
    assert set(counts) == {0, 20} and not seen[seen.argmin() :].any()


@pytest.mark.parametrize("workload", ["zigzag", "random", "even", "sparse", "turns"])
def test_programs_of_more_than_one_walk_are_refused(workload):
    params = Masim(workload=workload, fresh=True)
    with pytest.raises(BadInput, match="fresh=true: takes a workload"):
        configuration(params)
    with pytest.raises(BadInput, match="fresh=true: takes a workload"):
        boot.check_program(params)
