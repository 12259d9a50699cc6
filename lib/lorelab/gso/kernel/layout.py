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
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot

STRUCTS = {"shared-info": "skb_shared_info", "sk-buff": "sk_buff"}
BOOT_SECONDS = 60.0


def measure(wanted: list[Layout], lab: Lab | None = None) -> list[Record]:
    """Read structs out of the laboratory's unmodified kernel, or of the reader's own.

    The image is booted once, with nothing to do, so that a record names a kernel that runs.

    Raises
    ------
    BadInput
        The kernel can't follow a parameter, or its image has no BTF.
    RunFailed
        The guest did not come up.
    """
    lab = lab or Lab()
    for params in wanted:
        if params.kernel == "2014":
            raise BadInput("kernel=2014: no kernel of then runs here; takes 6.12")
        if params.kernel != "6.12" and lab.image is None:
            raise BadInput(f"kernel={params.kernel}: takes --kernel, an image of that release")
        if params.pointer != "none":
            raise BadInput(f"pointer={params.pointer}: a kernel has what it has; takes none")
    made = own.find(lab.image) if lab.image else build.built(build.recipe("gso", patched=False))
    types = read(made.image)
    job = Job("gso", "nothing", {}, BOOT_SECONDS)
    measured = boot(Machine(), job, lab)
    records = []
    for run, params in enumerate(wanted, 1):
        _, placed, size = declaration(types, STRUCTS[params.struct])
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
