"""Runs of oracle and model on one history: the oracle's random numbers and checks, recorded."""

import random

import numpy as np

from lorelab.damon.model import core, kdamond, state
from lorelab.damon.model.damos import Action, Filter
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.state import FILTER, GOAL, SCHEME
from tests.damon.oracle import Kdamond, Scheme

PAGE = 4096
ACTIONS = {"stat": Action.STAT, "pageout": Action.PAGEOUT, "hugepage": Action.HUGEPAGE}
ULONG_MAX, UINT_MAX = 2**64 - 1, 2**32 - 1


class World:
    """Random numbers, and a memory whose pages are hot, cold or in between by place and time."""

    def __init__(self, seed, pages_per_patch=64):
        self.random = random.Random(seed)
        self.patch = pages_per_patch * PAGE
        self.rates = {}
        self.numbers, self.checks = [], []

    def below(self, ceil):
        number = self.random.randrange(ceil or 2**32)
        self.numbers.append(number)
        return number

    def young(self, address):
        patch = address // self.patch
        if patch not in self.rates or self.random.random() < 0.002:
            self.rates[patch] = self.random.choice((0, 0, 0.1, 0.5, 1))
        self.checks.append(self.random.random() < self.rates[patch])
        return self.checks[-1]


def oracle_run(mappings, attrs, samples, seed, schemes=(), remaps=None):
    """Run the oracle; returns its regions after each sample, what it reported, its world."""
    world = World(seed)
    kdamond = Kdamond(mappings[0], attrs, world.below, world.young, schemes)
    kdamond.start()
    history = []
    for n in range(samples):
        kdamond.mappings = mappings[remaps(n) if remaps else 0]
        over = kdamond.one_sample()
        regions = [
            (t, r.start, r.end, r.nr_accesses, r.bp, r.age, r.last)
            for t, rs in enumerate(kdamond.targets)
            for r in rs
        ]
        history.append((regions, kdamond.aggregated if over else None))
    return history, world, kdamond


def as_arrays(schemes):
    """The oracle's schemes as the model takes them."""
    table = np.zeros(len(schemes), SCHEME)
    goals, filters = [], []
    for k, s in enumerate(schemes):
        row = table[k]
        row["min_sz_region"], row["max_sz_region"] = s.sz
        row["min_nr_accesses"], row["max_nr_accesses"] = s.nr_accesses
        row["min_age_region"], row["max_age_region"] = s.age
        row["action"] = ACTIONS[s.action]
        row["apply_interval_us"] = s.apply_interval
        row["reset_interval"], row["ms"], row["sz"] = s.reset_ms, s.quota_ms, s.quota_sz
        row["weight_nr_accesses"], row["weight_age"] = s.weights
        row["activated"] = 1
        goals += [(k, *goal) for goal in s.goals]
        filters += [(k, Filter[kind.upper()], *rest) for kind, *rest in s.filters]
    order = [(k, kind, matching, low, high) for k, kind, matching, low, high in filters]
    return table, filled(goals, GOAL), filled(order, FILTER)


def filled(rows, kind):
    """An array made by np.zeros, whose rows have fields where nothing is compiled, too."""
    table = np.zeros(len(rows), kind)
    table[:] = rows
    return table


def flat(mappings):
    return [(t, *vma) for t, vmas in enumerate(mappings) for vma in vmas]


def model_of(mappings, attrs, world, schemes=()):
    """A model context and pages that repeat what the oracle saw."""
    table, goals, filters = as_arrays(schemes)
    ctx = state.damon_new_ctx(
        flat(mappings[0]),
        sample_us=attrs[0],
        aggr_us=attrs[1],
        update_us=attrs[2],
        min_regions=attrs[3],
        max_regions=attrs[4],
        targets=len(mappings[0]),
        numbers=world.numbers,
        schemes=table,
        goals=goals,
        filters=filters,
    )
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), [], recorded=world.checks)
    core.kdamond_start(ctx, pages)
    return ctx, pages


def remapped_twice():
    """Mappings of two targets at three times: two of four grow, and shrink again."""
    spaces = []
    for shift in (0, 40, 0):
        borders = ((10, 90), (100, 300 + shift), (900, 1000), (5000, 5100 + shift))
        one = [(low * PAGE, high * PAGE) for low, high in borders]
        spaces.append([one, [(low + 3 * PAGE, high + 7 * PAGE) for low, high in one]])
    return spaces


def regions_of(ctx):
    """The model's regions, as rows like the oracle's."""
    rows = []
    for t in range(len(ctx.nr_regions)):
        head = len(ctx.regions) - len(ctx.nr_regions) + t
        i = int(ctx.regions[head]["next"])
        while i != head:
            r = ctx.regions[i]
            names = ("start", "end", "nr_accesses", "nr_accesses_bp", "age", "last_nr_accesses")
            rows.append((t, *(int(r[name]) for name in names)))
            i = int(r["next"])
    return rows


def step(ctx, pages):
    """One time round the model's loop; the regions it reported, or None."""
    assert kdamond.kdamond_prepare(ctx, pages) == 0
    ctx.info["now"] += ctx.info["sample_interval"]
    n = kdamond.kdamond_check(ctx, pages)
    return None if n < 0 else [tuple(int(x) for x in row) for row in ctx.trace[:n].tolist()]


__all__ = ["Scheme", "model_of", "oracle_run", "regions_of", "step"]
