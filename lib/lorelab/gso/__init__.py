"""Zero-copy segmentation: who may reuse a page, and when."""

from lorelab.experiments import Experiment
from lorelab.gso.params import (
    Breakeven,
    Broken,
    Flag,
    LastSegment,
    Layout,
    Lifetimes,
    Selftest,
    Tcp,
    Told,
    Traffic,
    Unread,
    Vhost,
    VhostCost,
)

EXPERIMENTS = [
    Experiment(
        name="gso/layout",
        question="Where could a pointer more stand in a packet's structs, and what does it cost?",
        Params=Layout,
    ),
    Experiment(
        name="gso/lifetimes",
        question="Which ways to hold the sender's pages are safe in every order of events?",
        Params=Lifetimes,
    ),
    Experiment(
        name="gso/traffic",
        question="What do many sends cost by each way, and which send wrong bytes?",
        Params=Traffic,
    ),
    Experiment(
        name="gso/probed",
        question="What does a probe on a kernel without a patch say of each packet?",
        Params=Traffic,
    ),
    Experiment(
        name="gso/traced",
        question="Does a recording of any live kernel say which packets were copied after all?",
        Params=Traffic,
    ),
    Experiment(
        name="gso/tcp",
        question="Does a stream arrive as it was sent, while its sender writes again?",
        Params=Tcp,
    ),
    Experiment(
        name="gso/broken",
        question="Which designs touch what is freed, by the word of KASAN?",
        Params=Broken,
    ),
    Experiment(
        name="gso/selftest",
        question="Do the kernel's own tests of zero copy pass with the switches as they were?",
        Params=Selftest,
    ),
    Experiment(
        name="gso/lastsegment",
        question="How often is the last segment not the last to go?",
        Params=LastSegment,
    ),
    Experiment(
        name="gso/breakeven",
        question="From which size on does zero copy take fewer instructions than a copy?",
        Params=Breakeven,
    ),
    Experiment(
        name="gso/flag",
        question="How can two CPUs lose the word that a packet was copied?",
        Params=Flag,
    ),
    Experiment(
        name="gso/told",
        question="What does a sender hear of copies that hears late?",
        Params=Told,
    ),
    Experiment(
        name="gso/unread",
        question="What stays of a sender whose neighbour's tap is not read?",
        Params=Unread,
    ),
    Experiment(
        name="gso/vhost",
        question="Are a guest's packets copied before they are segmented, and need they be?",
        Params=Vhost,
    ),
    Experiment(
        name="gso/vhost-cost",
        question="What do a guest's packets cost in instructions, lent and copied?",
        Params=VhostCost,
    ),
]
