"""Runs a finding's reproducer, as whoever has only that file would."""

import subprocess


def run(params):
    """Yield what `params["file"]`, which lies beside this, said, and its exit status."""
    command = {"py": ["python3"], "sh": ["sh"]}[params["file"].rpartition(".")[2]]
    file = f"/lab/{params['file']}"
    done = subprocess.run([*command, file], capture_output=True, text=True, timeout=60)
    yield {"status": done.returncode, "said": done.stdout, "complained": done.stderr}
