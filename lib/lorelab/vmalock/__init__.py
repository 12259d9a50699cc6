"""Per-VMA locks: page faults that do without the lock of the whole address space."""

from lorelab.experiments import Experiment
from lorelab.vmalock.params import Contention, Fork, Launch, Merge, Zerocopy

EXPERIMENTS = [
    Experiment(
        name="vmalock/contention",
        question="How many faults does a process handle while its threads also change VMAs?",
        Params=Contention,
    ),
    Experiment(
        name="vmalock/launch",
        question="How long does it take until a hundred new threads are at work?",
        Params=Launch,
    ),
    Experiment(
        name="vmalock/zerocopy",
        question="Whom does a madvise() stop while others receive without copying?",
        Params=Zerocopy,
    ),
    Experiment(
        name="vmalock/fork",
        question="What does marking every VMA cost a fork?",
        Params=Fork,
    ),
    Experiment(
        name="vmalock/merge",
        question="What is left of the gain where areas of several threads are one VMA?",
        Params=Merge,
    ),
]
