"""The example on a kernel booted now: what the guide says to write has to go on working."""

from lorelab.experiments import experiment
from lorelab.faultaround.params import Faults

RUNS = [
    Faults(pages=16, first=7, access="backwards"),
    Faults(pages=300, first=500, order=3, access="random", missing=7, seed=9),
]
"""The last was never recorded: it crosses into the next page table, with pages that are missing."""


def test_a_kernel_booted_now_is_the_model_in_every_fault(patched):
    patched("faultaround")
    asked = experiment("faultaround/faults")
    verdicts = [asked.agree(*pair).verdict for pair in zip(RUNS, asked.measure(RUNS), strict=True)]
    assert verdicts == ["passed"] * len(RUNS)
