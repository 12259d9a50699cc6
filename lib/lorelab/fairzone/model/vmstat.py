"""NR_ALLOC_BATCH, the counter of a zone of which every CPU keeps a part to itself (mm/vmstat.c).

vm_stat[NR_ALLOC_BATCH]          what zone_page_state() sees
      ^ folded at |diff| > stat_threshold
vm_stat_diff of CPU 0, CPU 1, ...
"""

from lorelab.numerics import forceinline


@forceinline
def zone_page_state(node, z):
    """The counter as a test sees it: diffs left out, and on several CPUs never below 0."""
    seen = node.zone[z].nr_alloc_batch
    if seen < 0 and node.info[0].up == 0:
        return seen - seen
    return seen


@forceinline
def batch_is_used(node, z):
    """`zone_page_state(zone, NR_ALLOC_BATCH) <= 0`.

    The value is unsigned, so that a kernel built for one CPU, which does not clamp it, takes a
    counter below 0 for a very large one (mended in September 2014).
    """
    return zone_page_state(node, z) == 0


@forceinline
def mod_zone_page_state(node, z, cpu, delta):
    """Add `delta` on a CPU, and fold its diff once that is beyond the threshold."""
    zone = node.zone[z]
    x = node.percpu[z, cpu] + delta
    if x > zone.threshold or x < -zone.threshold:
        zone.nr_alloc_batch += x
        x -= x
    node.percpu[z, cpu] = x
