"""Swap-out of small-sized THP without splitting: per-order, per-CPU clusters."""

from lorelab.experiments import Experiment
from lorelab.swap.params import AllocatorTest, Cpus, Instructions, Mixed, Swapout, Switches, Usemem

EXPERIMENTS = [
    Experiment(
        name="swap/allocator-test",
        question="How often does a 64 KiB swap-out fall back once the device is fragmented?",
        Params=AllocatorTest,
        model="lorelab.swap.workload:allocator_test",
        kernel="lorelab.swap.kernel:allocator_test",
    ),
    Experiment(
        name="swap/paths",
        question="Which clusters serve the allocations of swap/allocator-test?",
        Params=AllocatorTest,
        model="lorelab.swap.workload:paths",
        kernel="lorelab.swap.kernel:paths",
    ),
    Experiment(
        name="swap/switches",
        question="What does each switch change of swap/allocator-test, in turns in one boot?",
        Params=Switches,
        model="lorelab.swap.switches:switches",
        kernel="lorelab.swap.kernel:switched",
    ),
    Experiment(
        name="swap/cpus",
        question="What do several CPUs change of it, if the scheduler moves it between them?",
        Params=Cpus,
        model="lorelab.swap.cpus:cpus",
        kernel="lorelab.swap.kernel_cpus:cpus",
        weighs="lorelab.swap.kernel_cpus:weigh",
        repeats=False,
    ),
    Experiment(
        name="swap/probed",
        question="What do bcc probes see of swap/allocator-test on an unmodified kernel?",
        Params=AllocatorTest,
        model="lorelab.swap.workload:probed",
        kernel="lorelab.swap.kernel:probed",
    ),
    Experiment(
        name="swap/usemem",
        question="Where does swapping out a 64 KiB folio spend its invalidations?",
        Params=Usemem,
        model="lorelab.swap.usemem:usemem",
        kernel="lorelab.swap.kernel_swapout:usemem",
        per="swapped",
        timing=("deferred", "flushes"),
    ),
    Experiment(
        name="swap/swapout",
        question="What does it take to swap out one folio, whole, split, or partly mapped?",
        Params=Swapout,
        model="lorelab.swap.swapout:swapout",
        kernel="lorelab.swap.kernel_swapout:swapout",
    ),
    Experiment(
        name="swap/instructions",
        question="How many instructions is that, and what do switches cost that nobody turned?",
        Params=Instructions,
        kernel="lorelab.swap.kernel_swapout:instructions",
        per="pages",
    ),
    Experiment(
        name="swap/mixed",
        question="What do mixed orders, lifetimes and migrating tasks leave of a swap device?",
        Params=Mixed,
        model="lorelab.swap.mixed:mixed",
    ),
]
