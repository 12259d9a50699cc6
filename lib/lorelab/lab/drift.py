"""What of a record is no longer as in the tree: the kernel's patches, its config, guest programs.

Nothing is built for it. Programs that were compiled are told by the machine that compiled them, so
only those are compared that run in the guest as they stand in lib/kernel.
"""

from collections import Counter

from lorelab.errors import BadInput
from lorelab.lab import cache, needs, records
from lorelab.lab.build import KernelInfo
from lorelab.lab.recipes import digest_of, fragments, patches, upstream


def differs(source: records.Provenance) -> list[str]:
    """Name what a record was made with and the tree has no more.

    Parameters
    ----------
    source : Provenance

    Returns
    -------
    list of str
        `patches`, `config`, then the guest programs; nothing where all is as in the tree. A kernel
        that was not built here has neither patches nor a config of the tree.
    """
    design = source.experiment.split("/")[0]
    return [*_kernel(source.kernel, design), *_programs(source.programs, design)]


def describe(source: records.Provenance) -> str:
    """The same in words, for a table."""
    names = differs(source)
    kernel = [name for name in names if name in ("patches", "config")]
    programs = len(names) - len(kernel)
    parts = kernel + ([f"{programs} guest program{'s' * (programs > 1)}"] if programs else [])
    return f"other {', '.join(parts)}" if parts else "the same"


def counted() -> dict[str, tuple[int, int]]:
    """Recorded runs of each design, and how many of them differ from the tree in something."""
    runs: Counter[str] = Counter()
    off: Counter[str] = Counter()
    for file in sorted(records.FOLDER.rglob("*.json")):
        source = records.unseal(file).provenance
        design = source.experiment.split("/")[0]
        runs[design] += 1
        off[design] += bool(differs(source))
    return {design: (number, off[design]) for design, number in sorted(runs.items())}


def _kernel(kernel: KernelInfo, design: str) -> list[str]:
    if kernel.digest is None:
        return []
    changed = []
    config = None if kernel.config == "lab" else kernel.config
    if kernel.patches:
        if kernel.package == needs.SOURCE.name.removesuffix(".tar.xz"):
            series = patches(design, config)
        else:
            series = upstream(design, kernel.package, kernel.package_version)
        ours = cache.digest(*(file.read_bytes() for file in series))
        if kernel.patches_sha256 != ours:
            changed.append("patches")
    try:
        merged = fragments(kernel.design, config)
    except BadInput:  # a config that is gone
        return [*changed, "config"]
    parts = (kernel.package, kernel.package_version, kernel.source_sha256, kernel.compiler)
    digest = digest_of(parts, merged, kernel.patches_sha256)
    return changed if digest == kernel.digest else [*changed, "config"]


def _programs(programs: dict[str, str], design: str) -> list[str]:
    current = {file.name: file for file in cache.files(design, "guest/*.py")}
    current |= {f"probes/{file.name}": file for file in cache.files(design, "probes/*.[ch]")}
    return [
        name
        for name, digest in sorted(programs.items())
        if name.endswith((".py", ".c", ".h"))
        and (name not in current or cache.file_digest(current[name]) != digest)
    ]
