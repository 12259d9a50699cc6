"""The program of `damon/overhead`: memory of which a part is touched."""

from lorelab.damon.params import Overhead
from lorelab.damon.workload import masim
from lorelab.numerics import PAGE


def program(params: Overhead) -> masim.Config:
    """Memory of `mib` MiB, of which every second part is touched, or so much at its lower end."""
    if 0 < params.touched_mib < params.mib:
        touched = params.touched_mib << 20
        regions = {"rest": (params.mib << 20) - touched, "touched": touched}
        access = masim.Access("touched", False, PAGE, 1)
        return masim.Config(regions, (masim.Phase("steady", params.seconds * 1000, (access,)),))
    return halves(params.mib, params.parts, params.seconds)


def halves(mib: int, parts: int, seconds: int) -> masim.Config:
    """Memory of `mib` MiB in `parts` equal parts, of which every second one is touched."""
    regions = {f"part{n}": max((mib << 20) // parts, PAGE) for n in range(parts)}
    accesses = tuple(
        masim.Access(name, False, PAGE, 1) for n, name in enumerate(regions) if n % 2 == 0
    )
    return masim.Config(regions, (masim.Phase("steady", seconds * 1000, accesses),))
