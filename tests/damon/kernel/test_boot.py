"""What the guest is given, and what is read of its log."""

import pytest

from lorelab.damon.kernel import boot
from lorelab.damon.kernel import masim as kernel_masim
from lorelab.damon.params import Accuracy, FollowedSchemes, Masim, Schemes, Speeds, Variant
from lorelab.damon.workload import masim, truth
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput
from tests.damon.logged import LOG_STARTS, MAX_REGIONS, Logged, played


@pytest.mark.parametrize(
    ("params", "there"),
    [(Masim(), 1), (Masim(fresh=True), 2), (Schemes(), 0), (FollowedSchemes(), 0)],
)
def test_the_guest_is_told_when_memory_comes(params, there):
    text = boot.program(configuration(params.model_copy(update={"fresh": False})), params)
    assert text.split()[2] == str(there)


PARAMS = Masim(max_regions=MAX_REGIONS)


@pytest.fixture(scope="module")
def logged():
    return Logged(seed=3).run(1_010)


def test_a_run_without_a_window_is_bad_input(logged):
    boot.check_windows(PARAMS, logged)
    none = logged._replace(log=logged.log[logged.log["kind"] != boot.AGGREGATED])
    says = "aggr_us=100000: no window ended in the 5.0 s .* a longer program"
    with pytest.raises(BadInput, match=says + "$"):
        boot.check_windows(PARAMS, none)
    with pytest.raises(BadInput, match=says + ", or watermarks"):
        boot.check_windows(PARAMS, none._replace(watermarks=[[803, 802, 0, 500_000]]))
    with pytest.raises(BadInput, match=r"ended in the 0.1 s"):
        boot.check_windows(
            PARAMS, logged._replace(program=logged.program._replace(ended=99_000_000))
        )


@pytest.mark.parametrize(
    "params",
    [
        Masim(variant=Variant.FIXED),
        Masim(workload="random"),
        Masim(workload="sparse"),
        Accuracy(mib=4096),
    ],
)
def test_what_no_kernel_can_follow_is_bad_input(params):
    with pytest.raises(BadInput):
        kernel_masim.measure([params])


def test_a_program_as_numbers():
    config = masim.parse("a, 5000\nb, 70\n\none\n10\nb, 1, 64, 3\na, 0, 4096, 1\n", "here")
    assert boot.program(config, Masim(switch_us=1000, seed=9)) == (
        "1000 9 1\n2\n5000\n70\n1\n10 2\n1 1 64 3\n0 0 4096 1\n"
    )


def test_switches_follow_the_parameters():
    assert boot.switches(Masim()) == {"damon/flush": "on"}
    assert boot.switches(Masim(tlb=64)) == {}
    assert boot.switches(Masim(tlb=64, rand64=True)) == {"damon/rand64": "on"}


def test_truth_by_window_from_what_the_program_said():
    params, run, at = Masim(workload="zigzag"), played(), LOG_STARTS
    seen = truth.observed(params, boot.observation(run), Speeds(10.0, 0.0))
    assert len(seen) == 19  # without the one in which it began
    assert seen["true_wss"].tolist() == [0x10000] * 19
    assert seen["misplaced"].tolist() == [0] * 9 + [0x20000] + [0] * 9
    assert truth.changes(params, boot.observation(run)) == [1.0]
    assert boot.windows(run._replace(log=run.log[:0])) == []
    # Windows that are a ms late, with 20 checks each.
    late = run.log.copy()
    late["us"] = [(at + (n // 2 + 1) * 101_000) % 2**32 for n in range(40)]
    program = run.program._replace(ended=at * 1000 + 2_020_000_000)
    run = run._replace(log=late, program=program, kdamond=run.kdamond._replace(sleeps=400))
    took = boot.speeds(params, run)
    assert took.access_ns == (2_020_000_000 - 2_000_000) / (program.draws * 131_072)
    assert took.check_ns == 2_000_000 / (400 * 19 / 20)
    assert took.sleep_us == (2_020_000_000 - 2_000_000) / 400 / 1000
