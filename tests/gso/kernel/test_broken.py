"""KASAN's word on the designs: what is refused, what the model derives, what was recorded."""

import pytest

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.agree.broken import agree
from lorelab.gso.kernel import broken
from lorelab.gso.kernel.boot import MODES
from lorelab.gso.params import Broken, Variant
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import build, records
from lorelab.lab.run import RunOptions


def test_a_variant_that_no_kernel_has():
    with pytest.raises(BadInput, match="the kernel has one of"):
        broken.measure([Broken(variant="parent-skb")], RunOptions())


def test_a_kernel_that_is_not_built_is_named(monkeypatch):
    monkeypatch.setattr(build, "find", lambda _: None)
    with pytest.raises(BadInput, match="lorelab lab build gso --config kasan"):
        broken.measure([Broken()], RunOptions())


def test_the_tap_is_a_packet_socket_of_the_same_sends():
    assert broken.program(Broken())["tap"] and not broken.program(Broken(tap=False))["tap"]
    assert broken.program(Broken())["switches"] == {"gso/gso_mode": "thread"}
    assert broken.program(Broken(variant="shared-count"))["switches"] == {}


@pytest.mark.parametrize("tap", [False, True])
@pytest.mark.parametrize("variant", list(MODES))
def test_only_the_patch_as_posted_releases_what_is_gone_and_only_a_clone(variant, tap):
    found = experiment("gso/broken").simulate(Broken(variant=variant, tap=tap))
    assert found["value"].tolist() == [variant == Variant.PARENT and tap]


@pytest.mark.parametrize(
    ("complains", "verdict"), [(1, AgreementVerdict.PASSED), (0, AgreementVerdict.FAILED)]
)
def test_the_kernel_s_words_are_not_compared_but_that_it_complains_is(complains, verdict):
    said = {"complains": ("kernels", [complains]), "kernel: BUG: KASAN": ("times", [3])}
    counters = table("gso/broken", "parent", "kernel", said, first=0)
    recorded = next(
        record
        for params in records.recorded("gso/traffic", experiment("gso/traffic").Params)
        if (record := experiment("gso/traffic").recorded(params))
    )
    assert agree(Broken(), recorded._replace(counters=counters)).verdict == verdict


def test_recorded_runs_agree():
    asked = experiment("gso/broken")
    recorded = records.recorded("gso/broken", asked.Params)
    assert {params.tap for params in recorded} == {False, True}
    for params in recorded:
        assert asked.agree(params, asked.recorded(params)).verdict == AgreementVerdict.PASSED, (
            params
        )
