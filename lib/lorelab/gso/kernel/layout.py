"""`gso/layout` of a kernel: its own types, read out of the image that is booted."""

from lorelab.errors import BadInput
from lorelab.gso.experiments.layout import table
from lorelab.gso.kernel.btf import declaration, read
from lorelab.gso.model.layout import Layout as Laid
from lorelab.gso.model.layout import Placed
from lorelab.gso.params import Layout
from lorelab.lab import build, own
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as boot

STRUCTS = {"shared-info": "skb_shared_info", "sk-buff": "sk_buff"}
CONFIGS = {
    ("shared-info", "dataref"): "shared-info-dataref",
    ("shared-info", "frags[0]"): "shared-info-frags",
    ("sk-buff", "tail"): "sk-buff-tail",
}
"""Struct and what its pointer stands in front of, by what there is a kernel of in
lib/kernel/gso/configs."""
BOOT_SECONDS = 60.0


def measure(wanted: list[Layout], lab: Lab | None = None) -> list[Record]:
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
    lab = lab or Lab()
    for params in wanted:
        check(params, lab)
    return by_boot(wanted, lambda p: config(p) or "", lambda runs: _measure(runs, lab))


def check(params: Layout, lab: Lab) -> None:
    """Raise BadInput for what no kernel has."""
    if params.kernel == "2014":
        raise BadInput("kernel=2014: no kernel of then runs here; takes 6.12")
    if params.kernel != "6.12" and lab.image is None:
        raise BadInput(f"kernel={params.kernel}: takes --kernel, an image of that release")
    if params.pointer != "none" and (config(params) is None or lab.image is not None):
        known = ", ".join(f"struct={struct} pointer={place}" for struct, place in CONFIGS)
        raise BadInput(
            f"pointer={params.pointer}: a kernel has what it has; takes none, or without --kernel "
            f"one of {known}"
        )


def config(params: Layout) -> str | None:
    """The config of the kernel whose struct has such a pointer, if there is one."""
    return CONFIGS.get((params.struct, params.pointer))


def _measure(wanted: list[Layout], lab: Lab) -> list[Record]:
    own_config = config(wanted[0])
    if lab.image:
        made = own.find(lab.image)
    else:
        recipe = build.recipe("gso", own_config, patched=own_config is not None)
        made = build.built(recipe)
        lab = lab._replace(image=made.image if own_config else None)
    types = read(made.image)
    measured = boot(Machine(), Job("gso", "nothing", {}, BOOT_SECONDS), lab)
    records = []
    for run, params in enumerate(wanted, 1):
        _, found, size = declaration(types, STRUCTS[params.struct])
        placed = [one._replace(name=one.name.removeprefix("lorelab_")) for one in found]
        laid = Laid(tuple(placed), size, 8, _holes(placed, size))
        counters = table(params, laid, "kernel")
        records.append(measured.record("gso/layout", params, counters, run))
    return records


def _holes(placed: list[Placed], size: int) -> tuple[Placed, ...]:
    """What no member covers."""
    holes, at = [], 0
    for field in placed:
        if field.offset > at:
            holes.append(Placed("hole", at, field.offset - at))
        at = field.offset + field.size
    return (*holes, Placed("hole", at, size - at)) if at < size else tuple(holes)
