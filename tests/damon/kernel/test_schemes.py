"""What the guest is given and says of `damon/schemes`."""

import pytest

from lorelab.damon.kernel import boot
from lorelab.damon.kernel import schemes as kernel_schemes
from lorelab.damon.kernel import schemes_followed as schemes_log
from lorelab.damon.params import FollowedSchemes as Schemes
from lorelab.damon.params import Variant
from lorelab.errors import BadInput
from lorelab.lab import records
from tests.damon.following import UINT_MAX, ULONG_MAX
from tests.damon.logged import MAX_REGIONS, Logged
from tests.damon.oracle import PAGE, Scheme

RULES = "4K null null 25 300ms null pageout"


PARAMS = Schemes(schemes=RULES, max_regions=MAX_REGIONS, quota_mib=4, quota_ms=500)


EXPERIMENT = "damon/schemes"


def cold():
    """`RULES`, as the oracle takes them."""
    return Scheme((PAGE, ULONG_MAX), (0, 5), (3, UINT_MAX), "pageout", reset_ms=500,
                  quota_sz=4 << 20, weights=(1, 1))  # fmt: skip


@pytest.mark.parametrize("experiment", [EXPERIMENT, schemes_log.NAME])
def test_what_was_recorded_can_be_measured_again(experiment):
    given = records.recorded(experiment, Schemes)
    assert given
    for params in given:
        kernel_schemes.possible(params)


def test_totals_of_runs_and_what_things_took():
    scheme = cold()
    kdamond = Logged(3, [scheme])
    run = kdamond.run(1_000)
    memory = dict.fromkeys(kernel_schemes.UNITS, 3.0)
    memory |= {"paged_out": 200.0, "collapses": 4.0, "khugepaged_ns": 80_000}
    run = run._replace(
        program=run.program._replace(draws=100),
        kdamond=boot.Kdamond(-3_000_000, work_ns=41_000_000, sleeps=1_000, applying_ns=1_000_000),
        memory=memory,
    )
    idle = run._replace(memory=memory | {"paged_out": 0, "collapses": 0})
    found = kernel_schemes.totals(PARAMS, [run, idle])
    assert found["page"][1].tolist() == [5_000, 0] and found["collapse"][1].tolist() == [20_000, 0]
    assert found["lead"] == ("us", pytest.approx([3_000, 3_000]))
    assert found["scheme0_nr_tried"][1].tolist() == [scheme.stat["nr_tried"]] * 2
    assert found["windows"][1].tolist() == [50, 50]
    assert found["check"][1][0] * kdamond.checks == pytest.approx(40_000_000)


def test_schemes_as_the_guest_takes_them():
    [cold] = kernel_schemes.rules(Schemes(schemes="prcl", quota_mib=2, quota_ms=500))
    assert cold == {
        "action": "pageout",
        "sz": [4096, ULONG_MAX],
        "nr_accesses": [0, 1],
        "age": [50, UINT_MAX],
        "quota_bytes": 2 << 20,
        "quota_ms": 500,
    }
    hot, cold = kernel_schemes.rules(Schemes(schemes="ethp"))
    assert (hot["action"], hot["nr_accesses"]) == ("hugepage", [1, UINT_MAX])
    assert (cold["action"], cold["age"]) == ("nohugepage", [10, UINT_MAX])


@pytest.mark.parametrize(
    "params",
    [Schemes(variant=Variant.FIXED), Schemes(mib=4096)],
)
def test_what_no_kernel_can_run_is_bad_input(params):
    with pytest.raises(BadInput):
        kernel_schemes.measure([params])
