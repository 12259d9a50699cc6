"""A kernel of the reader's own, and how one is booted that comes with modules.

Debian's kernels have the transport of the root, 9p, neither built in nor (the cloud flavour) as a
module, and virtme-ng knows no other that needs no daemon. Such a kernel is booted by QEMU
directly: an initramfs with its modules, the guest's root and the job as read-only disks.
"""

import lzma
import re
from pathlib import Path

import pandas as pd
from virtme import mkinitramfs, modfinder

from lorelab.errors import BadInput
from lorelab.lab import cache, guest, needs
from lorelab.lab.build import Kernel, KernelInfo
from lorelab.lab.processes import check_output

TAKES = (
    "takes a bzImage that has 9P_FS, NET_9P_VIRTIO, VIRTIO_PCI, VIRTIO_CONSOLE, OVERLAY_FS and "
    "DEVTMPFS built in; or, as Debian's packages unpack, boot/vmlinuz-RELEASE beside "
    "lib/modules/RELEASE, or lib/modules/RELEASE/vmlinuz, with VIRTIO_BLK and EXT4_FS for 9P_FS; "
    "or a folder that holds one of these"
)
IMAGES = (
    "boot/vmlinuz-*",
    "lib/modules/*/vmlinuz",
    "usr/lib/modules/*/vmlinuz",
    "arch/x86/boot/bzImage",
)
DEBIAN_HAS = {"modules.builtin": "linux-base", "kernel": "linux-modules"}
"""What lib/modules/RELEASE has, and which package brings it where linux-image has neither."""
MODULES = ("virtio_pci", "virtio_console", "virtio_blk", "ext4", "zram", "lzo", "lzo_rle", "lz4")
"""What a guest loads before its root is there: its transport, and what experiments use of it.
Those that the kernel has built in need no loading; those it lacks, the job will miss."""

INIT = (
    "console=ttyS0 panic=-1 root=/dev/vda init=/bin/sh -- -c "
    '"mount -t devtmpfs dev /dev; mount -o ro /dev/vdb /lab; exec sh /lab/init.sh"'
)
"""End of the kernel's command line: /dev/vda has the guest's root, /dev/vdb its /lab."""


def find(path: Path) -> Kernel:
    """The kernel that `--kernel PATH` means.

    Parameters
    ----------
    path : Path
        See `TAKES`.

    Raises
    ------
    BadInput
        There is no kernel, or no single one.
    """
    image = _image(path).resolve()
    try:
        head = image.read_bytes()[:0x8000]
    except OSError as error:
        raise BadInput(f"--kernel {path}: {error.strerror}; {TAKES}") from None
    if head[0x202:0x206] != b"HdrS":
        raise BadInput(f"--kernel {path}: not a bzImage; {TAKES}")
    # Documentation/arch/x86/boot.rst: where the version string is, less 0x200.
    start = int.from_bytes(head[0x20E:0x210], "little") + 0x200
    banner = head[start : head.index(b"\0", start)].decode(errors="replace")
    built = image.with_name("kernel.json")
    if image.is_relative_to(cache.root()) and built.exists():
        # The laboratory's own, of another config.
        return Kernel(image, KernelInfo.model_validate_json(built.read_text()))
    release = banner.split(" ")[0]
    package, version = debian_package(banner)
    info = KernelInfo(
        release=release,
        banner=banner,
        package=package,
        package_version=version,
        image_sha256=cache.file_digest(image),
    )
    return Kernel(image, info, _modules(image, release))


def debian_package(banner: str) -> tuple[str, str] | tuple[None, None]:
    """Name and version of the Debian package that an image came from, if its banner says so.

    Examples
    --------
    >>> debian_package("6.12.90-amd64 (debian-kernel) #1 SMP Debian 6.12.90-1 (2026-06-01)")
    ('linux-image-6.12.90-amd64', '6.12.90-1')
    >>> debian_package("6.12.90 (me@home) #1 SMP")
    (None, None)
    """
    match = re.match(r"(\S+) .* Debian (\S+) \(", banner)
    return (f"linux-image-{match[1]}", match[2]) if match else (None, None)


def of_release(counters: pd.DataFrame, release: str) -> pd.DataFrame:
    """Counters of a reader's kernel, whose variant is its release where an experiment has one.

    An experiment names its rows after the release that it was written for, such as `v6.12`, and
    cannot know what it was run on. A variant of another name is what the reader says it is. A log
    has no variants.

    Examples
    --------
    >>> counters = pd.DataFrame({"variant": ["v6.12", "merged"], "value": [3, 4]})
    >>> of_release(counters, "7.3.4-amd64")["variant"].tolist()
    ['v7.3', 'merged']
    """
    if "variant" not in counters:
        return counters
    label = "v{}.{}".format(*re.match(r"(\d+)\.(\d+)", release).groups())
    released = counters["variant"].str.fullmatch(r"v\d+\.\d+")
    return counters.assign(variant=counters["variant"].mask(released, label))


def command(
    image: Path, modules: Path, root: Path, folder: Path, later: tuple[str, ...] = ()
) -> tuple[list[str], dict[str, str]]:
    """QEMU's command line for a kernel with modules, without what depends on the machine.

    Parameters
    ----------
    image, modules : Path
        As `find` gives them.
    root : Path
        The guest's root file system.
    folder : Path
        The run's own; `lab` in it becomes the guest's /lab.
    later : tuple of str
        Modules that the guest loads itself, from /lab/modules, with what the command line says.

    Returns
    -------
    tuple of list of str and dict
        The command, and the digest of each file the guest runs besides those of `lab`.

    Raises
    ------
    BadInput
        A tool is missing.
    RunFailed
        A disk or the initramfs could not be made.
    """
    needs.check(needs.OWN)
    init = cache.KERNEL_FILES / "common" / "guest" / "init.sh"
    (folder / "lab" / init.name).write_bytes(init.read_bytes())
    used = {init.name: cache.file_digest(init)}
    loaded = _needed(modules, folder, MODULES)
    used |= {file.name: cache.file_digest(file) for file in loaded}
    if later:
        used |= _stage(_needed(modules, folder, later), loaded, folder / "lab" / "modules")
    config = mkinitramfs.Config()
    config.busybox, config.modfiles = mkinitramfs.find_busybox("/", True), list(map(str, loaded))
    config.root_disk = True
    with (folder / "initramfs").open("wb") as file:
        mkinitramfs.mkinitramfs(file, config)
    guest.make_disk(folder / "lab", folder / "lab.ext4")
    disks = (guest.disk(root), folder / "lab.ext4")
    qemu = ["qemu-system-x86_64", "-machine", "q35", "-no-reboot", "-net", "none"]
    qemu += ["-vga", "none", "-display", "none", "-serial", "chardev:console"]
    qemu += ["-chardev", "file,id=console,path=/proc/self/fd/2"]
    qemu += ["-kernel", str(image), "-initrd", str(folder / "initramfs")]
    for disk in disks:
        qemu += ["-drive", f"file={disk},if=virtio,format=raw,readonly=on"]
    return qemu, used


def _image(path: Path) -> Path:
    if not path.is_dir():
        return path
    images = sorted({image.resolve() for pattern in IMAGES for image in path.glob(pattern)})
    if len(images) != 1:
        content = ", ".join(map(str, images)) or "no kernel"
        raise BadInput(f"--kernel {path}: holds {content}; {TAKES}")
    return images[0]


def _modules(image: Path, release: str) -> Path | None:
    """The folder of the kernel's modules, where a Debian package or tree has it."""
    beside = [image.parent]
    if image.parent.name == "boot":
        beside += [image.parents[1] / lib / "modules" / release for lib in ("lib", "usr/lib")]
    for folder in beside:
        lacking = [part for part in DEBIAN_HAS if not (folder / part).exists()]
        if folder.name == release and folder.is_dir() and lacking:
            packages = ", ".join(f"{DEBIAN_HAS[part]}-{release}" for part in lacking)
            raise BadInput(
                f"{folder} has no {', '.join(lacking)}: where Debian's kernel is four packages, "
                f"as 7.3 is, unpack {packages} there, too"
            )
        if "modules.builtin" not in lacking:
            return folder
    return None


def _stage(needed: list[Path], loaded: list[Path], folder: Path) -> dict[str, str]:
    """Put modules where the guest loads them from, named in the order to load; their digests."""
    folder.mkdir()
    names = {file.name for file in loaded}
    used = {}
    for number, file in enumerate(file for file in needed if file.name not in names):
        (folder / f"{number:02}-{file.name}").write_bytes(file.read_bytes())
        used[file.name] = cache.file_digest(file)
    return used


def _needed(modules: Path, folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Those of `names` that are not built in, and what they need, as they load, unpacked."""
    release = modules.name
    # Links, so that depmod writes nothing into the reader's own tree.
    tree = folder / "modules" / "usr" / "lib" / "modules" / release
    if not tree.exists():
        tree.mkdir(parents=True)
        (folder / "modules" / "lib").symlink_to("usr/lib")
        for part in modules.iterdir():
            (tree / part.name).symlink_to(part)
        depmod = ["/usr/sbin/depmod", "-b", str(folder / "modules"), release]
        check_output(*depmod)
    packed = modfinder.find_modules_from_install(names, str(folder / "modules"), release)
    return [_unpacked(Path(module), tree) for module in packed]


def _unpacked(module: Path, folder: Path) -> Path:
    # virtme-ng unpacks .zst itself; busybox has no xz in its insmod.
    if module.suffix != ".xz":
        return module
    plain = folder / module.stem
    plain.write_bytes(lzma.decompress(module.read_bytes()))
    return plain
