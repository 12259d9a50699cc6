"""Zero-copy segmentation: who may reuse a page, and when."""

from lorelab.experiments import Experiment
from lorelab.gso.params import Layout, Lifetimes, Traffic

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
]
