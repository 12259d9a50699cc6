"""Boot a kernel in QEMU, run one job in it, and come back with its results or a clear failure.

virtme-ng writes QEMU's command line: the guest's root over 9p, its init, the ports of its standard
streams. QEMU is then started from here and not by virtme-ng, because a run must end QEMU whatever
happens, also when lorelab itself is killed, and virtme-ng keeps the child to itself. Its lower
half `virtme-run` is asked, not `vng`: the overlays that vng adds make the kernel's command line
so long that virtme-ng writes its init into the guest's root, which all runs share.
"""

import json
import os
import re
import selectors
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import virtme
from rich.console import Console

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import build, cache, external_kernel, needs, probes
from lorelab.lab.processes import check_output, stop
from lorelab.lab.protocol import Damaged, Reader

QEMU = "qemu-system-x86_64"
BOOT_SECONDS = 300.0
"""From QEMU's start to the guest's first frame, without the time in which the host had no CPU for
it, as all bounds of a guest's time; some 10 s under emulation on an idle machine, and five times
that with the debug kernel."""
LAST_SECONDS = 10.0
"""From the end of QEMU's streams to its own."""
KERNEL_WORDS = ("loglevel=5", "printk.time=1", "no_timer_check")
"""virtme-run's loglevel=1 hides why a guest died; a time before each line tells the kernel's from a
program's; and on a busy host the emulated timer comes so late that the kernel takes its IO-APIC
for broken and panics."""
ROOT_FLAGS = "rootflags=version=9p2000.L,trans=virtio,access=any,msize=512000,cache=loose"
"""virtme-run's, but that what was read is kept: the root is read-only. Without, asking the host
time and again is a quarter of the way up."""
KVM_BOOT_SECONDS, KVM_JOB_SECONDS = 15.0, 5.0
"""For a guest that shows whether KVM works: it is up in 2 s where it does."""
ATTACH_SECONDS = 300.0
"""For each probe, which bcc compiles in the guest: some 25 s for the first, with the kernel's
headers to unpack, and 5 s for each further one, under emulation on an idle machine."""
TAIL = 15
"""Lines of the console that a failure shows."""
MOST_CONSOLE = 4 << 20
"""Bytes of the console that are held."""
SPLAT = re.compile(
    rb"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])* "
    rb"(?:WARNING: |BUG: |kernel BUG at |Oops: |UBSAN: |INFO: trying to register |list_\w+ corr)",
    re.MULTILINE,
)
"""How a kernel begins to say that something is wrong with it: WARN, BUG, KASAN, KCSAN, lockdep.
What it says of time (soft lockups, stalls, hung tasks) is left out: a busy host makes it so."""


class Machine(NamedTuple):
    """The virtual machine an experiment asks for."""

    cpus: int = 1
    memory_mib: int = 2048
    icount: bool = False
    """Every instruction takes the same time, 2**shift ns, and one CPU executes at a time."""
    shift: int = 0
    append: tuple[str, ...] = ()
    """Arguments for the kernel's command line."""
    qemu: tuple[str, ...] = ()
    """Arguments for QEMU: nodes, zones, disks, links."""
    modules: tuple[str, ...] = ()
    """What a kernel of the reader's own loads before the job where it is not built in; a parameter
    of one is in `append`, as `module.parameter=value`."""


class Job(NamedTuple):
    """What to run in the guest."""

    design: str | None
    """Whose kernel, probes and guest programs it takes; None for a job of the laboratory's own."""
    workload: str
    """Module under lib/kernel/DESIGN/guest whose `run(params)` yields rows."""
    params: dict[str, Any]
    seconds: float
    """Longest the job may take once the guest is up."""
    rows: int | None = None
    """Rows it must give, where that is known before."""
    probes: tuple[str, ...] = ()
    """Files of lib/kernel/DESIGN/probes or common/probes, without their `.c`, attached before the
    workload starts."""
    fatal: bool = False
    """The kernel may die of it: a row `died`, the lines it complained in, then follows those that
    it gave before, in the place of those that are due."""


class Outcome(NamedTuple):
    """A job that ran to its end."""

    rows: list[dict[str, Any]]
    probes: list[dict[str, Any]]
    """Frames of guest/probe.py; `lorelab.lab.probes` makes tables of them."""
    release: str
    command: list[str]
    accelerator: str
    programs: dict[str, str]


class GuestFailed(RunFailed):
    """A guest that panicked, hung, died or spoke nonsense.

    Attributes
    ----------
    rows : list of dict
        Complete results it had given before: a part of the run, never a record.
    """

    def __init__(self, message: str, rows: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.rows = rows

    def __reduce__(self) -> tuple[type, tuple[str, list[dict[str, Any]]]]:
        # From a process that measures on its own.
        return GuestFailed, (str(self), self.rows)


def run(
    image: Path,
    root: Path,
    programs: Path | None,
    machine: Machine,
    job: Job,
    quiet: bool = False,
    modules: Path | None = None,
) -> Outcome:
    """Boot `image` on `root` and run `job`.

    Parameters
    ----------
    image : Path
        bzImage.
    root : Path
        The guest's root file system (`lorelab.lab.guest`); stays read-only.
    programs : Path or None
        Folder whose files the guest finds beside its workloads.
    modules : Path, optional
        Folder of the kernel's modules, when it needs some to reach its root
        (`lorelab.lab.external_kernel`).

    Raises
    ------
    BadInput
        QEMU or virtme-ng is not here, or the kernel lacks what the job is about.
    GuestFailed
        With the console's last lines.
    """
    needs.check(needs.BOOT)
    accelerator = "tcg" if machine.icount else fastest(image, root, modules)
    return _run(image, root, programs, machine, job, accelerator, quiet, modules=modules)


def fastest(image: Path, root: Path, modules: Path | None = None) -> str:
    """`kvm` where a guest really boots with it, else `tcg`; asked once per host boot and QEMU.

    A /dev/kvm that opens proves nothing: nested hosts offer one that runs no guest. A line on
    stderr then says why.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    known = remembered()
    if known.exists() and (accelerator := known.read_text()) in ("kvm", "tcg"):
        return accelerator
    try:
        nothing = Job(None, "nothing", {}, KVM_JOB_SECONDS)
        _run(image, root, None, Machine(), nothing, "kvm", True, KVM_BOOT_SECONDS, modules)
        accelerator = "kvm"
    except RunFailed as failure:
        accelerator = "tcg"
        first, *console = str(failure).splitlines()
        why = [first.split("; ")[0], *(line.strip() for line in console[-1:])]
        print(
            f"/dev/kvm opens and runs no guest ({': '.join(why)}); guests are emulated, which is "
            f"slower, until this machine boots anew or {known} is removed",
            file=sys.stderr,
        )
    known.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(known, accelerator)
    return accelerator


def remembered() -> Path:
    """Where `fastest` keeps what it found with this host's boot and QEMU."""
    host = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return cache.root() / "accelerator" / cache.digest(host, qemu_version())[:16]


def qemu_version() -> str:
    """The first line of `qemu-system-x86_64 --version`."""
    return check_output(QEMU, "--version").splitlines()[0]


def _run(
    image: Path,
    root: Path,
    programs: Path | None,
    machine: Machine,
    job: Job,
    accelerator: str,
    quiet: bool,
    boot_seconds: float = BOOT_SECONDS,
    modules: Path | None = None,
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="lorelab-") as name:
        folder = Path(name)
        used = _stage(folder / "lab", job, programs, image.parent / build.INLINED)
        if modules is None:
            command = _command(image, root, folder, machine, accelerator)
        else:
            command, more = external_kernel.command(image, modules, root, folder, machine.modules)
            used |= more
            command += ["-smp", str(machine.cpus), "-m", f"{machine.memory_mib}M", "-append"]
            command += [" ".join((*KERNEL_WORDS, *machine.append, external_kernel.INIT))]
            command += [*_emulation(machine, accelerator), *machine.qemu]
        reader = _watch(command, job, quiet, boot_seconds)
    shown = [
        part.replace(name, "RUN")
        .replace(str(cache.root()), "CACHE")
        .replace(_virtme(), "VIRTME")
        .replace(str(image), "KERNEL")
        for part in command
    ]
    return Outcome(reader.rows, reader.probes, reader.hello["release"], shown, accelerator, used)


def _stage(lab: Path, job: Job, programs: Path | None, inlined: Path) -> dict[str, str]:
    """Put together what the guest sees as /lab; returns the digest of each file it runs."""
    (lab / "probes").mkdir(parents=True)
    for file in cache.files(job.design, "guest/*.py"):
        shutil.copy2(file, lab)
    # Those of the design all, for a workload may load one itself.
    own = cache.KERNEL_FILES / job.design / "probes" if job.design else None
    for file in own.glob("*.[ch]") if own else ():
        shutil.copy2(file, lab / "probes")
    for file in programs.iterdir() if programs is not None else ():
        if file.is_file():
            shutil.copy2(file, lab)
    for name in job.probes:
        shutil.copy2(probes.source(name, job.design), lab / "probes")
    files = [file for file in sorted(lab.rglob("*")) if file.is_file()]
    used = {str(file.relative_to(lab)): cache.file_digest(file) for file in files}
    if inlined.exists():
        shutil.copy2(inlined, lab)
    content = {"workload": job.workload, "params": job.params, "probes": job.probes}
    (lab / "job.json").write_text(json.dumps(content))
    return used


def _emulation(machine: Machine, accelerator: str) -> list[str]:
    """QEMU's arguments for the accelerator and for the port of the results."""
    if accelerator == "kvm":
        qemu = ["-accel", "kvm", "-cpu", "host"]
    else:
        # QEMU 7.2 emulates cmpxchg16b so that 6.12 crashes in it.
        threads, cpu = "multi", "max,-cx16,-erms,-fsrm"
        if machine.icount:
            # Costs are counted on a CPU with fast string instructions. Emulated, each byte of one
            # is a turn of a loop; where they are not counted, kernel and libc move words.
            threads, cpu = "single", "max,-cx16"
        qemu = ["-accel", f"tcg,thread={threads}", "-cpu", cpu]
    if machine.icount:
        qemu += ["-icount", f"shift={machine.shift}"]
    # By default a virtio-serial device has 64 queues, and QEMU's main loop polls a file for each
    # whenever the guest sets its timer: 455 of virtme-ng's and ours, which took as much time as the
    # emulation. Number 0 is kept for a console; the one port of each device is number 1.
    qemu += ["-global", "virtio-serial-pci.max_ports=2"]
    # The results' own port, so that nothing a program prints comes between the frames.
    qemu += ["-chardev", "file,id=lorelab,path=/proc/self/fd/1", "-device", "virtio-serial-pci"]
    return [*qemu, "-device", "virtserialport,name=lorelab,chardev=lorelab"]


def _command(
    image: Path, root: Path, folder: Path, machine: Machine, accelerator: str
) -> list[str]:
    qemu = _emulation(machine, accelerator)
    ask = [_virtme_run(), "--dry-run", "--show-command", "--show-boot-console", "--disable-kvm"]
    ask += ["--disable-microvm", "--force-9p", "--mods", "none", "--kimg", str(image)]
    ask += ["--root", str(root), "--overlay-rwdir", "/tmp", "--rodir", f"/lab={folder / 'lab'}"]
    ask += ["--cpus", str(machine.cpus), "--memory", f"{machine.memory_mib}M"]
    words = (*KERNEL_WORDS, ROOT_FLAGS, *machine.append)
    ask += [part for word in words for part in ("--kopt", word)]
    ask += ["--script-sh", "exec python3 /lab/agent.py", "--qemu-opts", *qemu, *machine.qemu]
    # virtme-ng keeps its temporary files and its settings in the run's own folder.
    output = check_output(*ask, env={**os.environ, "TMPDIR": str(folder), "HOME": str(folder)})
    if QEMU not in output:
        raise RunFailed(f"virtme-run gave no command line for QEMU: {output[-300:]}")
    return shlex.split(output.splitlines()[-1])


def _watch(command: list[str], job: Job, quiet: bool, boot_seconds: float) -> Reader:
    """Run QEMU, read frames off its stdout and the console off its stderr, until it ends."""
    reader = Reader()
    console = bytearray()
    progress = Console(stderr=True, quiet=quiet)
    with (
        progress.status(f"{job.workload}: booting") as status,
        subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as qemu,
        selectors.DefaultSelector() as ready,
    ):
        try:
            ready.register(qemu.stdout, selectors.EVENT_READ, reader.feed)
            ready.register(qemu.stderr, selectors.EVENT_READ, console.extend)
            deadline, waited = time.monotonic() + boot_seconds, 0.0
            while ready.get_map() and not reader.ended:
                waited = max(waited, _waited(qemu.pid))
                left = deadline + waited - time.monotonic()
                if left <= 0:
                    raise GuestFailed(_late(reader, job, boot_seconds, console), reader.rows)
                greeted = reader.hello is not None
                for key, _ in ready.select(left):
                    data = os.read(key.fd, 1 << 16)
                    if data:
                        key.data(data)
                    else:
                        ready.unregister(key.fileobj)
                _bound(console)
                if reader.hello is not None and not greeted:
                    deadline = time.monotonic() - waited + _longest(job)
                status.update(f"{job.workload}: {len(reader.rows)} of {job.rows or '?'} results")
            if not reader.ended:
                # It has closed its streams; its own end tells more than the one it gets here.
                with suppress(subprocess.TimeoutExpired):
                    qemu.wait(LAST_SECONDS)
        except Damaged as damaged:
            raise GuestFailed(f"{damaged}{_last(console)}", reader.rows) from None
        finally:
            stop(qemu)
            # What the kernel said before its last result may still be on its way.
            console += qemu.stderr.read()
    if reader.lacks is not None:
        raise BadInput(f"kernel {reader.hello['release']} lacks {reader.lacks}")
    if job.fatal and not reader.ended and (complaints := _complaints(console)):
        reader.rows.append({"died": complaints})
        return reader
    if splat := SPLAT.search(console):
        raise GuestFailed(_splat(console[splat.start() :]), reader.rows)
    if reader.error is not None:
        message = f"{job.workload} failed in the guest: {reader.error}{_last(console)}"
        raise GuestFailed(message, reader.rows)
    if not reader.ended:
        raise GuestFailed(_death(qemu.returncode, console), reader.rows)
    if job.rows is not None and len(reader.rows) != job.rows:
        message = f"{job.workload} gave {len(reader.rows)} results where {job.rows} were due"
        raise GuestFailed(message + _last(console), reader.rows)
    return reader


def _waited(pid: int) -> float:
    """Seconds that a process had work and the host had no CPU for it: of its threads the most."""
    waited = [0]
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # it has ended
            waited.append(int(thread.read_text().split()[1]))
    return max(waited) / 1e9


def _bound(console: bytearray) -> None:
    """Of a console that floods keep the end, and what the kernel first complained of."""
    if len(console) <= MOST_CONSOLE:
        return
    splat = SPLAT.search(console)
    start = splat.start() if splat else 0
    first = console[start : start + MOST_CONSOLE // 4] if splat else b""
    console[:] = first + console[-MOST_CONSOLE // 4 :]


def _longest(job: Job) -> float:
    return job.seconds + ATTACH_SECONDS * len(job.probes)


def _late(reader: Reader, job: Job, boot_seconds: float, console: bytes) -> str:
    if reader.hello is None:
        return f"the guest did not come up within {boot_seconds:.0f} s{_last(console)}"
    return (
        f"{job.workload} hung: not done after {_longest(job):.0f} s, "
        f"{len(reader.rows)} results before that{_last(console)}"
    )


def _death(status: int, console: bytes) -> str:
    text = bytes(console)
    if b"Kernel panic" in text:
        what = "the guest's kernel panicked"
    elif b"Out of memory: Killed process" in text:
        what = "the guest ran out of memory"
    elif status < 0:
        what = f"QEMU was killed by signal {-status}"
    else:
        what = f"QEMU ended with status {status} before the job did"
    return what + _last(console)


def _complaints(console: bytes) -> list[str]:
    """What the kernel complained of, a line each, without their times."""
    lines = bytes(console).decode(errors="replace").replace("\r", "").splitlines()
    # By time and each once: a kernel with `panic_print` says all again as it dies.
    splats = sorted({line for line in lines if SPLAT.match(line.encode())})
    return [line.split("] ", 1)[1] for line in splats]


def _splat(console: bytes) -> str:
    lines = console.decode(errors="replace").replace("\r", "").splitlines()
    first = lines[0].split("] ", 1)[1]
    return f"the guest's kernel complained: {first}; it said:\n  " + "\n  ".join(lines[: 2 * TAIL])


def _last(console: bytes) -> str:
    lines = bytes(console).decode(errors="replace").replace("\r", "").splitlines()
    last = [line for line in lines if line.strip()][-TAIL:]
    return (
        "; the console's last lines:\n  " + "\n  ".join(last)
        if last
        else "; its console said nothing"
    )


def _virtme_run() -> str:
    path = shutil.which("virtme-run", path=str(Path(sys.executable).parent))
    if path is None:
        raise BadInput("virtme-run not found; it comes with lorelab's environment: make env")
    return path


def _virtme() -> str:
    return str(Path(virtme.__file__).parent)
