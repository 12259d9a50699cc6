"""The picture of a folio's way out, beside the model that counts it."""

import numpy as np
import pytest

from lorelab.swap.model.reclaim import COUNTS, PLUG, shrink_folio
from lorelab.swap.model.state import swapon
from lorelab.swap.pages import sequence, simulated
from lorelab.swap.params import Usemem
from lorelab.swap.workload.usemem import whole_folio

PATHS = list(simulated.USEMEM_PATHS)[:4]


@pytest.mark.parametrize("path", PATHS)
def test_events_are_the_models(path):
    """A path's events add up to what the model counts for the same 64 KiB."""
    params = Usemem(**simulated.USEMEM_PATHS[path])
    folio = whole_folio(params)
    count, plug = np.zeros(1, COUNTS), np.zeros(1, PLUG)
    si = swapon(16 * 256, params.variant)
    for _ in range(sequence.PAGES >> folio.order):
        assert shrink_folio(si, 0, folio, True, plug, count)
    events = sequence.sequence({path: params})["event"].value_counts()
    names = ["slot_allocations", "invalidations", "flushes", "splits", "bios"]
    assert events.reindex(sequence.EVENTS, fill_value=0).tolist() == [count[n][0] for n in names]


def test_a_page_is_cleared_and_waited_for_before_its_write():
    """In each path no write comes before a slot, a clear and a wait."""
    table = sequence.sequence({p: Usemem(**simulated.USEMEM_PATHS[p]) for p in PATHS})
    for _, rows in table.groupby("path"):
        events = rows["event"].tolist()
        for at in (i for i, event in enumerate(events) if event == "write"):
            assert events[at - 1] == "wait for the other CPUs"
            assert events[at - 2] == "clear a PTE"
