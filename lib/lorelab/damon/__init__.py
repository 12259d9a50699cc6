"""DAMON: access monitoring by sampling one page a region."""

from lorelab.damon.params import (
    Accuracy,
    FollowedSchemes,
    HotRange,
    Hotspot,
    Masim,
    Overhead,
    Schemes,
)
from lorelab.experiments import Experiment

EXPERIMENTS = [
    Experiment(
        name="damon/masim",
        question="What does DAMON see of a program whose accesses are known?",
        Params=Masim,
    ),
    Experiment(
        name="damon/overhead",
        question="Is the cost of monitoring bounded, whatever the size of memory?",
        Params=Overhead,
    ),
    Experiment(
        name="damon/accuracy",
        question="How far from the truth is what DAMON reports, and how late?",
        Params=Accuracy,
    ),
    Experiment(
        name="damon/follow",
        question="Given the kernel's random numbers and checks, are the model's regions the same?",
        Params=Masim,
    ),
    Experiment(
        name="damon/schemes",
        question="What do the thread's schemes promote, demote, page out and fault back in?",
        Params=Schemes,
    ),
    Experiment(
        name="damon/schemes-followed",
        question="Given the same numbers, checks and clock, are schemes tried on the same regions?",
        Params=FollowedSchemes,
    ),
    Experiment(
        name="damon/hotspot",
        question="How long until a small hot range stands out of a large cold one?",
        Params=Hotspot,
    ),
    Experiment(
        name="damon/hot-range",
        question="How do regions follow a hot range that moves?",
        Params=HotRange,
    ),
]
