"""Recordings made by damo of programs in masim's configuration language, played by masim.c."""

import base64
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
TOOLS = Path("/tmp/tools")
OUT = Path("/tmp/damon.data")
ENABLED = Path("/sys/kernel/tracing/events/damon/damon_aggregated/enable")
LONGEST = 600.0
PART = 1 << 19
FILE = """\
#!/bin/sh
# What file(1), which this guest has not, would say of a recording to damo, by its first byte.
case $(head -c 1 "$2") in
"[") echo "JSON data" ;;
k) echo "ASCII text" ;;
*) echo "zlib compressed data" ;;
esac
"""


def run(params):
    """Yield the recording of each of `params["runs"]`, in parts of base64.

    A run has `masim`, the standard input of masim.c, and `options` for `damo record`.
    """
    TOOLS.mkdir()
    for name, text in (
        ("file", FILE),
        ("perf", f'#!/bin/sh\nexec python3 {HERE}/perf.py "$@"\n'),
    ):
        (TOOLS / name).write_text(text)
        (TOOLS / name).chmod(0o755)
    for number, wanted in enumerate(params["runs"]):
        yield {"run": number, "damo": damo_version()}
        packed = base64.b64encode(one(wanted)).decode()
        for at in range(0, len(packed), PART):
            yield {"run": number, "part": packed[at : at + PART]}


def damo_version():
    return subprocess.run(
        ["damo", "version"], check=True, capture_output=True, text=True
    ).stdout.strip()


def one(wanted):
    """Record one program from beginning to end."""
    OUT.unlink(missing_ok=True)
    program = subprocess.Popen(
        ["setarch", "-R", HERE / "masim"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    damo = None
    try:
        program.stdin.write(wanted["masim"])
        program.stdin.close()
        while next(program.stdout).split() != ["ready"]:
            pass
        command = ["damo", "record", "--perf_path", TOOLS / "perf", "--do_record", "access"]
        command += ["-o", OUT, *wanted["options"], str(program.pid)]
        damo = subprocess.Popen(
            command, env={"PATH": f"{TOOLS}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        # On a slow CPU damo and its perf start longer than the program runs.
        until(lambda: traced() or damo.poll() is not None)
        program.send_signal(signal.SIGUSR1)
        for line in program.stdout:
            if line.startswith("end"):
                break
        # damo stops when the process is gone.
        program.kill()
        program.wait()
        said, _ = damo.communicate(timeout=LONGEST)
        if not OUT.exists():
            raise RuntimeError(f"damo made no recording: {said[-300:]}")
        return OUT.read_bytes()
    finally:
        program.kill()
        program.wait()
        if damo:
            damo.kill()


def traced():
    return ENABLED.exists() and ENABLED.read_text().strip() == "1"


def until(true):
    deadline = time.monotonic() + LONGEST
    while not true():
        if time.monotonic() > deadline:
            raise RuntimeError("damo did not start to record")
        time.sleep(0.05)
