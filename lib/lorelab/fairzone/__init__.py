"""The fair zone allocation policy: batches that spread page allocations over a node's zones."""

from lorelab.experiments import Experiment
from lorelab.fairzone.params import (
    Batches,
    Boundary,
    Followed,
    Inversion,
    Nodes,
    Probed,
    Reread,
    Tiers,
    Tiobench,
)

EXPERIMENTS = [
    Experiment(
        "fairzone/tiobench",
        "Which zones does each variant use while files are written and read, and what is cached?",
        Tiobench,
    ),
    Experiment(
        "fairzone/batches",
        "Do batches run out together, and what does it cost when they do not?",
        Batches,
    ),
    Experiment(
        "fairzone/inversion",
        "How much longer do pages stay in one zone than in another, over the rate of kswapd?",
        Inversion,
    ),
    Experiment(
        "fairzone/boundary",
        "What does an allocation cost while both zones are below their low watermark?",
        Boundary,
    ),
    Experiment(
        "fairzone/followed",
        "Does each walk of a kernel's allocator take the zone that the model predicts?",
        Followed,
    ),
    Experiment(
        "fairzone/reread",
        "What does a benchmark find cached when it reads what it has just written?",
        Reread,
    ),
    Experiment(
        "fairzone/nodes",
        "Does a kernel of today use two LRU lists unevenly, as its zones did until 4.8?",
        Nodes,
    ),
    Experiment(
        "fairzone/tiers",
        "Does a kernel that demotes pages to a slower node use the two unevenly?",
        Tiers,
    ),
    Experiment(
        "fairzone/probed",
        "Does a probe from outside count what the patch counts?",
        Probed,
    ),
]
