"""The kernel's own tests of tools/testing/selftests/net, as they stand in its source."""

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = 200


def run(params):
    """Yield for each of `params["runs"]`, a list of command lines, what became of its parts.

    `passed` counts command lines of exit status 0, `checks` what they said came to its end, and
    `failed` is what the others said last.
    """
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=False)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for number, wanted in enumerate(params["runs"]):
        passed = checks = 0
        failed = []
        for line in wanted["commands"]:
            status, said = ended(line)
            passed += status == 0
            checks += sum(said.count(word) for word in wanted["says"])
            if status:
                failed.append(f"{line}: exit status {status}: {said[-500:]}")
        yield {"run": number, "passed": passed, "checks": checks, "failed": failed}


def ended(line):
    """Exit status of a command line, -14 where it hung, and all it said.

    A script that fails leaves behind what it started, which may wait for ever; it goes too.
    """
    with tempfile.TemporaryFile("w+") as said:
        script = subprocess.Popen(
            line.split(), cwd=HERE, stdout=said, stderr=said, start_new_session=True
        )
        try:
            script.wait(SECONDS)
        except subprocess.TimeoutExpired:
            script.returncode = -signal.SIGALRM
        with suppress(ProcessLookupError):
            os.killpg(script.pid, signal.SIGKILL)
        said.seek(0)
        return script.returncode, said.read()
