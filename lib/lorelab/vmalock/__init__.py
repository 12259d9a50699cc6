"""Per-VMA locks: page faults that do without the lock of the whole address space."""

from lorelab.experiments import Experiment
from lorelab.vmalock.params import (
    Broken,
    Collision,
    Contention,
    Followed,
    Fork,
    Instructions,
    Launch,
    Litmus,
    Merge,
    Omissions,
    Overlap,
    Probed,
    Protocol,
    Sizes,
    Taken,
    Threads,
    Workloads,
    WorkloadsFollowed,
    Wrap,
    Zerocopy,
)

EXPERIMENTS = [
    Experiment(
        name="vmalock/protocol",
        question="Does every interleaving of a configuration keep the rules of the lock?",
        Params=Protocol,
    ),
    Experiment(
        name="vmalock/omissions",
        question="Which steps of the protocol can be left out, and nothing breaks?",
        Params=Omissions,
    ),
    Experiment(
        name="vmalock/wrap",
        question="What is wrong once the sequences have wrapped?",
        Params=Wrap,
    ),
    Experiment(
        name="vmalock/litmus",
        question="Which barriers does the protocol need?",
        Params=Litmus,
    ),
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
    Experiment(
        name="vmalock/followed",
        question="Does the kernel take the model's path for every fault and every writer?",
        Params=Followed,
    ),
    Experiment(
        name="vmalock/threads",
        question="What becomes of faults on two CPUs, and how often is a lock waited for?",
        Params=Threads,
    ),
    Experiment(
        name="vmalock/workloads",
        question="What becomes of faults when threads start, fork, and receive without copying?",
        Params=Workloads,
    ),
    Experiment(
        name="vmalock/workloads-followed",
        question="Does the kernel take the model's path when threads start, fork, and receive?",
        Params=WorkloadsFollowed,
    ),
    Experiment(
        name="vmalock/taken",
        question="How often do faults, and all else, still take mmap_lock?",
        Params=Taken,
    ),
    Experiment(
        name="vmalock/probed",
        question="Where does mmap_lock's time go, with a lock in each VMA and without?",
        Params=Probed,
    ),
    Experiment(
        name="vmalock/collision",
        question="What do faults and writers do once the sequence has wrapped?",
        Params=Collision,
    ),
    Experiment(
        name="vmalock/overlap",
        question="Does a writer wait for a fault in its VMA, once the sequence has wrapped?",
        Params=Overlap,
    ),
    Experiment(
        name="vmalock/broken",
        question="What does a process see when the kernel leaves out a step of the lock?",
        Params=Broken,
    ),
    Experiment(
        name="vmalock/instructions",
        question="What do a fault and a fork execute with the lock, without it, and unbuilt?",
        Params=Instructions,
    ),
    Experiment(
        name="vmalock/sizes",
        question="How much memory does a VMA take with its lock beside it, and inside it?",
        Params=Sizes,
    ),
]
