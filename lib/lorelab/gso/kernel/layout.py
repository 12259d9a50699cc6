"""`gso/layout` of a kernel: its own types, read out of the image that is booted."""

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.kernel import boot
from lorelab.gso.kernel.btf import Btf, declaration, read
from lorelab.gso.model.layout import Layout as Laid
from lorelab.gso.model.layout import Placed
from lorelab.gso.params import Layout
from lorelab.gso.workload.layout import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import DEFAULTS, Measured, Measurement, Request, RunOptions, kernel

STRUCTS = {"shared-info": "skb_shared_info", "sk-buff": "sk_buff"}
CONFIGS = {
    ("shared-info", "dataref"): "shared-info-dataref",
    ("shared-info", "frags[0]"): "shared-info-frags",
    ("sk-buff", "tail"): "sk-buff-tail",
}
"""Struct and what its pointer stands in front of, by what there is a kernel of in
lib/kernel/gso/configs."""
BOOT_SECONDS = 60.0


def measure(requested: list[Layout], options: RunOptions = DEFAULTS) -> list[Record]:
    """Read structs out of the laboratory's unmodified kernel, or of the reader's own.

    With a pointer more, out of the kernel that was built with it. Each image is booted once, with
    nothing to do, so that a record names a kernel that runs.

    Raises
    ------
    BadInput
        The kernel can't follow a parameter, or its image has no BTF.
    RunFailed
        The guest did not come up.
    """
    for params in requested:
        check(params, options)
    types = {
        of: read(kernel(_request([params]), options).image)
        for of, params in {config(params): params for params in requested}.items()
    }

    def counters(params: Layout, measured: Measured, run: int) -> pd.DataFrame:
        return table(params, _placed(types[config(params)], params.struct), "kernel")

    loop = Measurement("gso/layout", _request, counters, machine=lambda p: config(p) or "")
    return loop(requested, options)


def check(params: Layout, options: RunOptions) -> None:
    """Raise BadInput for what no kernel has."""
    if params.kernel == "2014":
        raise BadInput("kernel=2014: no kernel of then runs here; takes 6.12")
    if params.kernel != "6.12" and options.image is None:
        raise BadInput(f"kernel={params.kernel}: takes --kernel, an image of that release")
    if params.pointer != "none" and (config(params) is None or options.image is not None):
        known = ", ".join(f"struct={struct} pointer={place}" for struct, place in CONFIGS)
        raise BadInput(
            f"pointer={params.pointer}: a kernel has what it has; takes none, or without --kernel "
            f"one of {known}"
        )


def config(params: Layout) -> str | None:
    """The config of the kernel whose struct has such a pointer, if there is one."""
    return CONFIGS.get((params.struct, params.pointer))


def _request(batch: list[Layout]) -> Request:
    own_config = config(batch[0])
    job = Job(boot.DESIGN, "nothing", {}, BOOT_SECONDS)
    return Request(Machine(), job, patched=own_config is not None, config=own_config)


def _placed(types: Btf, struct: str) -> Laid:
    _, members, size = declaration(types, STRUCTS[struct])
    placed = [one._replace(name=one.name.removeprefix("lorelab_")) for one in members]
    return Laid(tuple(placed), size, 8, _holes(placed, size))


def _holes(placed: list[Placed], size: int) -> tuple[Placed, ...]:
    """What no member covers."""
    holes, at = [], 0
    for field in placed:
        if field.offset > at:
            holes.append(Placed("hole", at, field.offset - at))
        at = field.offset + field.size
    return (*holes, Placed("hole", at, size - at)) if at < size else tuple(holes)
