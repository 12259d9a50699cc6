"""The probe and the recording: what is refused, what the model says, and what was recorded."""

import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import experiment
from lorelab.gso.experiments import probed
from lorelab.gso.experiments.traffic import count
from lorelab.gso.kernel import probed as by_probe
from lorelab.gso.kernel import traced as by_trace
from lorelab.gso.params import Traffic
from lorelab.gso.workload import traced
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records

NAMES = ["gso/probed", "gso/traced"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("given", "said"), [({"variant": "parent"}, "takes orphan, "), ({"held": True}, "held=true")]
)
def test_what_cannot_be_followed_is_refused(name, given, said):
    asked = experiment(name)
    with pytest.raises(BadInput, match=said):
        asked.simulate(Traffic(**given))
    with pytest.raises(BadInput, match=said):
        asked.measure([Traffic(**given)])


@pytest.mark.parametrize(
    "given", [{}, {"tap": True}, {"received": True}, {"variant": "orphan"}, {"zerocopy": False}]
)
def test_the_probe_sees_what_the_kernel_s_own_counters_see(given):
    params = Traffic(sends=7, length=4200, **given)
    table = probed.simulate(params).set_index("counter")["value"]
    counted = count(params)
    copies = table["probe_copies_0"] + table["probe_copies_1"]
    assert copies == counted["copies"]
    assert table["probe_copied_bytes"] == counted["copied_bytes"]
    assert table["probe_completions_0"] + table["probe_completions_1"] == counted["completions"]
    assert table["probe_told_0"] + table["probe_told_1"] == counted["told"]
    each = probed.simulate(params).query("counter == 'packets_by_completions'")
    assert (each["step"] * each["value"]).sum() == counted["completions"]


def test_a_row_of_each_number_of_packets():
    table = probed.simulate(Traffic(sends=7, length=4200))
    assert list(table.index) == list(range(len(table)))
    packets = table[table["counter"].str.startswith("packets_by_")]
    assert (packets["unit"] == "packets").all()
    assert (packets["value"] == 7).all()
    assert packets.set_index("counter")["step"]["packets_by_segments"] == 3


def test_what_the_probe_says_is_told_apart_by_packets_and_totals():
    frames = [
        {
            "probe": "zerocopy",
            "counters": [
                ["segments", 0, "segments", 80],
                ["by_completions_copied_41", 0, "packets", 2],
                ["copies_1", 0, "calls", 80],
            ],
        }
    ]
    totals, spread = by_probe.totals_of(frames)
    assert totals == {"segments": 80, "copies_1": 80}
    assert spread == {"by_completions_copied": {41: 2}}


TEXT = """# 6.12.117, skb_copy_ubufs, of 25 s
# watches copied
# watches done
 zerosend-99 [000] ..... 7.000001: copied: (skb_copy_ubufs+0x0/0x5c0) bytes=1400
 zerosend-99 [000] ..... 7.000002: <stack trace>
 => skb_copy_ubufs
 => skb_segment
 zerosend-99 [000] ..... 7.000003: done: (msg_zerocopy_complete+0x0/0x60) packet=0x10 sent=0 \
left=1 sends=1 zerocopy=1
# end
""".replace("\\\n", "")


def test_a_recording_is_read_as_the_model_counts():
    found = by_trace.totals_of(TEXT)
    assert found["copies_by_skb_segment"] == found["completed"] == found["copied_after_all"] == 1
    assert found["copied_bytes"] == 1400
    assert set(found) == set(traced.UNITS)
    assert found["copies_by_others"] == 0
    # Without BTF of arguments no size, without a stack no caller: neither is 0.
    without = by_trace.totals_of(TEXT.replace(" bytes=1400", ""))
    assert set(traced.UNITS) - set(without) == {"copied_bytes"}
    without = by_trace.totals_of(TEXT.replace(" => skb_copy_ubufs\n => skb_segment\n", ""))
    assert set(traced.UNITS) - set(without) == {"copies_by_skb_segment", "copies_by_others"}
    none = by_trace.totals_of("".join(TEXT.splitlines(keepends=True)[:3]) + "# end\n")
    assert none["copied_bytes"] == none["copies_by_skb_segment"] == none["completed"] == 0
    table = traced.table(Traffic(), without, "kernel")
    assert set(table["counter"]) == set(without)
    with pytest.raises(RunFailed, match="lost 3 events"):
        by_trace.totals_of(TEXT.replace("# end", "CPU:0 [LOST 3 EVENTS]\n# end"))


@pytest.mark.parametrize("name", NAMES)
def test_recorded_runs_agree(name):
    asked = experiment(name)
    recorded = records.recorded(name, asked.Params)
    assert recorded
    for params in recorded:
        held = asked.agree(params, asked.recorded(params))
        assert held.verdict == AgreementVerdict.PASSED, held.table[~held.table["agrees"]]
