"""DAMON: access monitoring by sampling one page a region."""

from lorelab.damon.params import Accuracy, FollowedSchemes, Hotspot, Masim, Overhead, Schemes
from lorelab.experiments import Experiment

EXPERIMENTS = [
    Experiment(
        name="damon/masim",
        question="What does DAMON see of a program whose accesses are known?",
        Params=Masim,
        model="lorelab.damon.workload:masim",
        kernel="lorelab.damon.kernel:masim",
        repeats=False,
        weighs="lorelab.damon.agree:masim",
    ),
    Experiment(
        name="damon/overhead",
        question="Is the cost of monitoring bounded, whatever the size of memory?",
        Params=Overhead,
        model="lorelab.damon.overhead:overhead",
        kernel="lorelab.damon.kernel:overhead",
        repeats=False,
        weighs="lorelab.damon.agree:overhead",
    ),
    Experiment(
        name="damon/accuracy",
        question="How far from the truth is what DAMON reports, and how late?",
        Params=Accuracy,
        model="lorelab.damon.workload:accuracy",
        kernel="lorelab.damon.kernel:accuracy",
        repeats=False,
        weighs="lorelab.damon.agree:accuracy",
    ),
    Experiment(
        name="damon/follow",
        question="Given the kernel's random numbers and checks, are the model's regions the same?",
        Params=Masim,
        kernel="lorelab.damon.follow:measure",
        repeats=False,
        weighs="lorelab.damon.agree:followed",
    ),
    Experiment(
        name="damon/schemes",
        question="What do the thread's schemes promote, demote, page out and fault back in?",
        Params=Schemes,
        model="lorelab.damon.operations:schemes",
        kernel="lorelab.damon.kernel_schemes:schemes",
        repeats=False,
        weighs="lorelab.damon.agree:schemes",
    ),
    Experiment(
        name="damon/schemes-followed",
        question="Given the same numbers, checks and clock, are schemes tried on the same regions?",
        Params=FollowedSchemes,
        kernel="lorelab.damon.follow_schemes:measured",
        repeats=False,
        weighs="lorelab.damon.follow_schemes:weigh",
    ),
    Experiment(
        name="damon/hotspot",
        question="How long until a small hot range stands out of a large cold one?",
        Params=Hotspot,
        model="lorelab.damon.hotspot:hotspot",
        kernel="lorelab.damon.kernel_hotspot:measured",
        repeats=False,
        weighs="lorelab.damon.agree:hotspot",
    ),
]
