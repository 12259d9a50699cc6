"""Programs in masim's configuration language, played by masim.c and watched by DAMON."""

import base64
import os
import re
import signal
import subprocess
import time
import zlib
from contextlib import contextmanager
from pathlib import Path

import memory
import sysfs
from switches import turned

HERE = Path(__file__).parent
PART = 1 << 19
BEGIN = signal.SIGUSR1


def run(params):
    """Yield what became of each of `params["runs"]`, in order; rows carry its number as `run`.

    A run has `masim`, the standard input of masim.c; `attrs` and `schemes`
    (`sysfs.configure`); `switches`, choices by name. `params["log"]` says what to log:
    "regions", "numbers" (with them), or "" for nothing.
    """
    # Most of a large program's memory is never touched.
    Path("/proc/sys/vm/overcommit_memory").write_text("1")
    log, schemes = None, any(wanted["schemes"] for wanted in params["runs"])
    if params["log"]:
        from log import Log

        log = Log(params["log"] == "numbers", schemes)
    if schemes:
        memory.swap()
    for number, wanted in enumerate(params["runs"]):
        with turned(wanted["switches"]):
            for row in one(wanted, log):
                yield {"run": number, **row}


@contextmanager
def started(text):
    """masim.c with `text` on its standard input, up to the moment that BEGIN makes it play.

    Yields the process, and what it says of itself: address and bytes of each `region` and `own`.
    """
    program = subprocess.Popen(
        ["setarch", "-R", HERE / "masim"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        program.stdin.write(text)
        program.stdin.close()
        said = {"region": [], "own": []}
        while (words := next(program.stdout).split()) != ["ready"]:
            said[words[0]].append([int(word) for word in words[2:]])
        yield program, said
    finally:
        program.kill()
        program.wait()


def one(wanted, log):
    """Play one program from beginning to end, monitored all the time."""
    with started(wanted["masim"]) as (program, said):
        yield {"regions": said["region"], "own": said["own"], **mappings(program.pid)}
        schemes = [marked(scheme) for scheme in wanted["schemes"]]
        sysfs.configure(program.pid, wanted["attrs"], schemes)
        if log:
            log.start_anew()
        sysfs.turn("on")
        watched = time.monotonic_ns()
        kdamond = sysfs.kdamond()
        before = work(kdamond)
        watch = None
        if wanted["schemes"]:
            # The program is always ready to run. On its CPU kdamond would wait for the end of its
            # time slice, in each sample up to two ticks; on the other one every flush of a TLB
            # entry would wait for an interrupt there. khugepaged, at nice 19, has the other one.
            for task in (program.pid, kdamond):
                os.sched_setaffinity(task, {0})
            os.sched_setscheduler(kdamond, os.SCHED_FIFO, os.sched_param(1))
            watch = memory.Watch(program.pid)
        program.send_signal(BEGIN)
        truth = []
        for line in program.stdout:
            words = line.split()
            truth.append([int(word) for word in words[1:]])
            if words[0] == "end":
                break
        else:
            raise RuntimeError("masim ended before its program did")
        after = work(kdamond)
        applying = log.applying() if log else 0
        stats = sysfs.scheme_stats() if wanted["schemes"] else []
        # Else pages go out between one counter of memory and the next.
        sysfs.turn("off")
        became = watch.end() if watch else {}
        yield {
            "watched": watched,
            "truth": truth,
            "work": [b - a for a, b in zip(before, after, strict=True)],
            "applying": applying,
            "schemes": stats,
            "watermarks": [rule["watermarks"] for rule in schemes if "watermarks" in rule],
            "memory": became,
        }
        if log:
            packed = base64.b64encode(zlib.compress(log.read())).decode()
            for at in range(0, len(packed), PART):
                yield {"log": packed[at : at + PART]}


def marked(scheme):
    """A scheme whose watermarks, in thousandths less than is free now, are what is free."""
    if "watermarks" not in scheme:
        return scheme
    *less, interval = scheme["watermarks"]
    now = memory.free()
    return scheme | {"watermarks": [max(now - one, 0) for one in less] + [interval]}


def mappings(pid):
    """Start and end of every mapping that is on the process' own list (not vsyscall).

    Of them those that have no pages of their own (VM_PFNMAP), which madvise() can't page out.
    """
    found, bare = [], []
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if not line.endswith("[vsyscall]"):
            found.append([int(part, 16) for part in line.split()[0].split("-")])
            if line.endswith("[vvar]"):
                bare.append(found[-1])
    return {"mappings": found, "bare": bare}


def work(pid):
    """Nanoseconds that a task has run, and how often it went to sleep."""
    ran = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    status = Path(f"/proc/{pid}/status").read_text()
    return ran, int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[1])
