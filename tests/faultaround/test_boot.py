"""The example on a kernel booted now: what the guide says to write has to go on working."""

from lorelab.experiments import experiment
from lorelab.faultaround.params import Faults

RUNS = [
    Faults(pages=16, first=7),
    Faults(pages=16, first=7, access="backwards"),
    Faults(pages=300, first=500, order=3, access="random", missing=7, seed=9),
]
"""The last was never recorded: it crosses into the next page table, with pages that are missing."""


def test_a_kernel_booted_now_is_the_model_in_every_fault(patched):
    patched("faultaround")
    asked = experiment("faultaround/faults")
    measured = asked.measure(RUNS)
    verdicts = [
        str(asked.agree(params, record).verdict)
        for params, record in zip(RUNS, measured, strict=True)
    ]
    assert verdicts == ["passed"] * len(RUNS)
    assert {record.provenance.kernel.release.split("-")[0] for record in measured} == {"6.12.117"}
