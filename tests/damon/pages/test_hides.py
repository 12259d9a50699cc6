"""The time line of a page behind the TLB, beside the model's counts."""

import numpy as np
import pytest

from lorelab.damon.pages import hides, simulated


@pytest.mark.parametrize("switch_us", [7_000, 10_000, 12_000, 30_000])
def test_the_models_count(switch_us):
    """As many checks find the bit set as the model counts in windows of 20, within 2.5 %.

    The model goes round 256 pages, and a switch hides the part of them that it has yet to touch.
    """
    table = hides.spans(2_000_000, switch_us=switch_us)
    counted = simulated.hidden(1, switch_us, 1)
    assert table["set"].sum() / 20 == pytest.approx(counted, rel=0.025)
    flushed = hides.spans(2_000_000, switch_us=switch_us, flush=True)
    assert flushed["set"].dropna().all() and simulated.hidden(1, switch_us, 1, tlb=0) == 20


@pytest.mark.parametrize("flush", [False, True])
def test_a_set_bit_is_what_a_check_finds(flush):
    """A check finds the bit where its span ends there, and a span begins as an entry does."""
    table = hides.spans(300_000, switch_us=11_000, flush=flush)
    bits = table[table["row"] == "accessed bit"]
    checks = table[table["row"] == "kdamond finds"]
    assert np.array_equal(checks.loc[checks["set"].astype(bool), "end"], bits["end"])
    assert bits["start"].isin(table.loc[table["row"] == "TLB entry", "start"]).all()
    assert (bits["end"] - bits["start"]).between(0.001, 5).all()
