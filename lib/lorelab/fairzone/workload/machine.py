"""The zones that an experiment's parameters ask for."""

from pathlib import Path

from lorelab.errors import BadInput
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.zones import Node
from lorelab.fairzone.params import Machine
from lorelab.numerics import PAGE, njit

LEAST_FRAMES = 1 << 14
"""Of a zoneinfo, as of `mib`: each thread has a file of a few pages at least."""


def node_of(params: Machine, dirty_percent: int = 20) -> Node:
    """The zones of `zoneinfo`, or those of `mib`, all free."""
    if params.zoneinfo:
        from lorelab.fairzone.recording.zoneinfo import MOST_FRAMES, make, read

        found = read(Path(params.zoneinfo))
        if not LEAST_FRAMES <= sum(zone.managed for zone in found) <= MOST_FRAMES:
            least, most = LEAST_FRAMES * PAGE >> 20, MOST_FRAMES * PAGE >> 30
            raise BadInput(
                f"zoneinfo={params.zoneinfo}: takes zones of {least} MiB to {most} GiB in all"
            )
        return make(found, params.variant, params.cpus, params.exact, dirty_percent)
    every = zones.managed_pages(params.mib, params.zone_dma, params.below_4g_mib)
    managed = [pages for pages in every if pages]
    return zones.make(
        managed,
        params.variant,
        params.cpus,
        params.min_free_kib,
        params.exact,
        marks=zones.watermarks(managed, params.min_free_kib, params.watermark_scale_factor),
        dirty_ratio=dirty_percent,
    )


@njit
def nap_pages(mb_s):
    """Pages that a disk moves in HZ/10, the nap of kswapd."""
    return round(mb_s * 1e6 / PAGE / 10)


def names(params: Machine) -> list[str]:
    """Names of the zones, the lowest first."""
    if params.zoneinfo:
        from lorelab.fairzone.recording.zoneinfo import read

        return [zone.name for zone in read(Path(params.zoneinfo))]
    return list(zones.ZONES) if params.zone_dma else list(zones.ZONES[1:])
