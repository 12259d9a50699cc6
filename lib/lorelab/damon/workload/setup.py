"""What every experiment sets up: a program, the memory that it touches, and the context over it."""

from typing import Any

from lorelab.damon.model.kdamond import kdamond_start
from lorelab.damon.model.memory import Pages, new_pages
from lorelab.damon.model.state import Damon, damon_new_ctx
from lorelab.damon.params import ALONE, Masim, Monitoring, Speeds
from lorelab.damon.workload import masim
from lorelab.errors import BadInput
from lorelab.numerics import PAGE
from lorelab.params import label


def configuration(params: Masim) -> masim.Config:
    """The program of `params`: its configuration, at its size.

    Raises
    ------
    BadInput
        No such program, or one of which more waits for an LRU list than `fresh` can tell.
    """
    config = masim.builtin(params.workload)
    accesses = [access for phase in config.phases for access in phase.accesses]
    simple = len(accesses) == 1 and not accesses[0].random and accesses[0].stride == PAGE
    # Fresh pages of 7.3 are no model's, but a kernel's.
    if params.fresh and not simple and params.variant.traits.fresh:
        raise BadInput("fresh=true: takes a workload that goes round one region page by page")
    return masim.scaled(config, params.mib) if params.mib else config


def fresh(params: Monitoring) -> bool:
    """Whether the program's memory comes as it is first accessed, and is not all on an LRU list."""
    return isinstance(params, Masim) and params.fresh


def memory(
    params: Monitoring,
    config: masim.Config,
    speeds: Speeds = ALONE,
    own: bool = True,
    **more: Any,
) -> Pages:
    """The memory of a program that is about to start; see `new_pages()` for `more`.

    Without `own` the program touches nothing but its regions, as no process can.

    Raises
    ------
    BadInput
        The variant is told of no fresh pages.
    """
    if fresh(params) and not params.variant.traits.fresh:
        raise BadInput(f"variant={label(params.variant)}: the model of it has no fresh pages")
    patterns, phases, vmas = masim.program(config)
    if fresh(params):
        # A page that the program unmaps as it begins (lib/kernel/damon/guest/masim.c): kdamond,
        # which begins before, has it until it looks at the mappings again, and here for good.
        program, (target, lowest, highest), stack = vmas
        vmas = [program, (target, lowest - PAGE, highest), stack]
    return new_pages(
        patterns,
        phases,
        vmas,
        masim.OWN if own else (),
        speeds=speeds,
        tlb=params.tlb,
        switch_us=params.switch_us,
        seed=params.seed,
        fresh=fresh(params),
        **more,
    )


def context(params: Monitoring, pages: Pages, **more: Any) -> Damon:
    """A context with the attributes of `params`, started; see `damon_new_ctx()` for `more`.

    Raises
    ------
    BadInput
        The variant does not work with regions.
    """
    if not params.variant.traits.regions:
        raise BadInput(f"variant={label(params.variant)}: takes one that has regions")
    if more.get("schemes") is not None and not params.variant.traits.schemes:
        raise BadInput(f"variant={label(params.variant)}: the model of it has no schemes")
    ctx = damon_new_ctx(
        pages.vmas,
        variant=params.variant,
        sample_us=params.sample_us,
        aggr_us=params.aggr_us,
        update_us=params.looks_us,
        min_regions=params.min_regions,
        max_regions=params.max_regions,
        seed=params.seed,
        rand64=params.rand64,
        **more,
    )
    kdamond_start(ctx, pages)
    return ctx
