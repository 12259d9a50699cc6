"""Swap-out of small-sized THP without splitting: per-order, per-CPU clusters."""

from lorelab.experiments import Experiment
from lorelab.swap.params import AllocatorTest, Cpus, Instructions, Mixed, Swapout, Switches, Usemem
from lorelab.swap.params_holes import Holes

EXPERIMENTS = [
    Experiment(
        name="swap/allocator-test",
        question="How often does a 64 KiB swap-out fall back once the device is fragmented?",
        Params=AllocatorTest,
    ),
    Experiment(
        name="swap/paths",
        question="Which clusters serve the allocations of swap/allocator-test?",
        Params=AllocatorTest,
    ),
    Experiment(
        name="swap/switches",
        question="What does each switch change in swap/allocator-test, run in turns in one boot?",
        Params=Switches,
    ),
    Experiment(
        name="swap/cpus",
        question="What do several CPUs change in it, if the scheduler moves the task between them?",
        Params=Cpus,
    ),
    Experiment(
        name="swap/probed",
        question="What do bcc probes see of swap/allocator-test on an unmodified kernel?",
        Params=AllocatorTest,
    ),
    Experiment(
        name="swap/usemem",
        question="Where does swapping out a 64 KiB folio spend its invalidations?",
        Params=Usemem,
    ),
    Experiment(
        name="swap/swapout",
        question="What does it take to swap out one folio, whole, split, or partly mapped?",
        Params=Swapout,
    ),
    Experiment(
        name="swap/instructions",
        question="How many instructions does a swap-out take, and what do unused switches cost?",
        Params=Instructions,
    ),
    Experiment(
        name="swap/mixed",
        question="What do mixed orders, lifetimes and migrating tasks leave of a swap device?",
        Params=Mixed,
    ),
    Experiment(
        name="swap/holes",
        question="Where does each of three allocators look for slots among holes?",
        Params=Holes,
    ),
]
