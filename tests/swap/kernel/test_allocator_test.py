"""swap/allocator-test on a kernel: what it refuses, what was recorded, and the whole path live."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import needs, records
from lorelab.lab.run import RunOptions
from lorelab.params import parse
from lorelab.swap.kernel.allocator_test import switches
from lorelab.swap.params import AllocatorTest, Variant

FOUND = experiment("swap/allocator-test")
RECORDED = records.recorded(FOUND.name, AllocatorTest)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"variant": "v6.10"}, "variant=v6.10: the laboratory's kernel is a v6.12"),
        ({"batched_zap": False}, "batched_zap=false: no kernel can"),
        ({"iterations": 101}, "iterations=101: the kernel's tool does 100"),
        ({"device_mib": 32768}, "device_mib=32768"),
    ],
)
def test_what_no_kernel_here_can_follow(given, said):
    with pytest.raises(BadInput) as refused:
        FOUND.measure([parse(AllocatorTest, given)])
    assert said in str(refused.value)


def test_no_qemu_is_said_before_anything_starts(monkeypatch):
    lacking = needs.Need("qemu-system-none", "qemu-system-x86", "the virtual machine")
    monkeypatch.setattr(needs, "BOOT", [lacking])
    with pytest.raises(BadInput, match=r"apt-get install .*qemu-system-x86"):
        FOUND.measure([AllocatorTest()])


def test_what_is_no_kernel_is_said_before_anything_starts(laboratory, tmp_path):
    (tmp_path / "vmlinux").write_bytes(b"\x7fELF" * 200)
    for name, said in (("vmlinux", "not a bzImage"), ("missing", "No such file")):
        with pytest.raises(BadInput, match=said):
            FOUND.measure([AllocatorTest()], RunOptions(tmp_path / name))


def test_the_four_option_sets_are_recorded_for_four_seeds():
    found = {(params.options, params.seed) for params in RECORDED if params.large_swapin}
    for options in ("", "-a", "-s", "-a -s"):
        assert len({seed for opts, seed in found if opts == options}) >= 4
        assert (options, 1) in found


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_a_record_is_whole(params):
    record = FOUND.recorded(params)
    assert bool(record.provenance.kernel.patches) == bool(switches(params))
    counters = record.counters.pivot_table(index="step", columns="counter", values="value")
    assert counters.index.tolist() == list(range(1, 1 + params.iterations))
    # Every 64 KiB folio of the tool's 60 MiB is swapped out at most once an iteration.
    assert (counters >= 0).all(axis=None)
    assert (counters.sum(axis=1) <= 60 * 16).all()


def test_the_model_of_7_2_equals_that_kernel():
    """Debian's, booted: what either of the two changes alone gives is another number of splits."""
    changed = {"variant": Variant.V7_2, "tails_reversed": True}
    page_wise = 0
    for release, params in records.others(FOUND.name, AllocatorTest):
        if not release.startswith("7.2.12+"):
            continue
        counted = records.load(FOUND.name, params, release=release).counters

        def equal(given, params=params, counted=counted):
            model = FOUND.simulate(params.model_copy(update=given))
            return exact(compare(model.assign(variant="v6.12"), counted))

        assert equal(changed) and len(counted) == 200
        if not params.large_swapin and "-a" not in params.options:
            page_wise += 1
            assert not any(equal({name: value}) for name, value in changed.items())
    assert page_wise == 2


def test_live_equals_the_record(patched):
    """Boots the unmodified kernel, runs its own tool, and finds what was found before.

    Equal, with no margin: one CPU and a synchronous device leave nothing to the host's speed.
    """
    patched("swap")
    wanted = [AllocatorTest(options="-a -s"), AllocatorTest(seed=2, iterations=10)]
    for params, live in zip(wanted, FOUND.measure(wanted), strict=True):
        kept = FOUND.recorded(params)
        assert live.counters.equals(kept.counters)
        assert live.provenance.kernel.package == "linux-source-6.12"
