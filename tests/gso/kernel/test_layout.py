"""Structs with 8 bytes more: what is refused, and that the builds are those that are named."""

from typing import get_args

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.kernel import breakeven, layout
from lorelab.gso.pages import views
from lorelab.gso.params import Breakeven, Layout
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import build, cache, recipes, records
from lorelab.lab.run import RunOptions


@pytest.fixture
def unbuilt(monkeypatch):
    monkeypatch.setattr(build, "find", lambda _: None)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Layout(kernel="2014"), "no kernel of then runs here"),
        (Layout(kernel="7.3"), "takes --kernel"),
        (Layout(kernel="6.12", pointer="tskey"), "one of struct=shared-info pointer=dataref"),
        (Layout(kernel="6.12", struct="sk-buff", pointer="end"), "a kernel has what it has"),
    ],
)
def test_what_no_kernel_has(asked, said):
    with pytest.raises(BadInput, match=said):
        layout.measure([asked], RunOptions())


def test_a_reader_s_kernel_has_no_pointer_of_ours(tmp_path):
    with pytest.raises(BadInput, match="without --kernel one of"):
        layout.measure([Layout(kernel="6.12", pointer="dataref")], RunOptions(image=tmp_path))


@pytest.mark.usefixtures("unbuilt")
def test_the_build_that_is_missing_is_named():
    with pytest.raises(BadInput, match="lab build gso --config shared-info-dataref"):
        layout.measure([Layout(kernel="6.12", pointer="dataref")], RunOptions())
    with pytest.raises(BadInput, match="lab build gso --config sk-buff-tail"):
        breakeven.measure([Breakeven(pointer="sk-buff-tail")], RunOptions())


def test_every_pointer_has_its_config_and_patch():
    named = set(get_args(Breakeven.model_fields["pointer"].annotation)) - {"none"}
    assert named == set(layout.CONFIGS.values())
    for config in named:
        [patch] = cache.files("gso", f"configs/{config}/*.patch")
        assert "lorelab_pointer;" in patch.read_text()
        assert recipes.fragments("gso", config)[-1].stem == config


def test_recorded_builds_have_the_offsets_of_the_model():
    asked = experiment("gso/layout")
    seen = set()
    for params in records.recorded("gso/layout", asked.Params):
        held = asked.agree(params, asked.recorded(params))
        assert held.verdict == AgreementVerdict.PASSED
        seen.add((params.struct, params.pointer))
    assert set(layout.CONFIGS) <= seen


def test_more_is_what_a_send_takes_beyond_the_kernel_as_it_is():
    more = views.pointer_instructions()
    assert list(more.columns) == ["none", *sorted(layout.CONFIGS.values())]
    assert (more["none"] > 0).all()
