"""The kernel's own tests of tools/testing/selftests/net, as they stand in its source."""

import subprocess
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
            done = subprocess.run(
                line.split(), cwd=HERE, capture_output=True, text=True, timeout=SECONDS
            )
            said = done.stdout + done.stderr
            passed += done.returncode == 0
            checks += sum(said.count(word) for word in wanted["says"])
            if done.returncode:
                failed.append(f"{line}: exit status {done.returncode}: {said[-500:]}")
        yield {"run": number, "passed": passed, "checks": checks, "failed": failed}
