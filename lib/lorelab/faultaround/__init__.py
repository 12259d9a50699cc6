"""The guide's example: fault-around, which maps pages around a fault (do_fault_around())."""

from lorelab.experiments import Experiment
from lorelab.faultaround.params import Faults

EXPERIMENTS = [
    Experiment(
        "faultaround/faults",
        "Which pages of a file mapping fault, and how many does each fault map?",
        Faults,
    ),
]
