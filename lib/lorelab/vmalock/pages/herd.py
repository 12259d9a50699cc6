"""What herd7 says of the litmus tests under the kernel's memory model, run anew or as recorded.

    python -m lorelab.vmalock.pages.herd MODEL HERD7 [OPTION ...] >data/litmus/vmalock.json

runs every file in lib/kernel/vmalock/litmus: those of the model's tests; in whole those of longer
sequences; in arm those for Arm's own model. MODEL is tools/memory-model. herd7 is the package
herdtools7 of Debian sid; where it is unpacked beside its own libc, HERD7 and the options are that
libc's loader and what it takes.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pandas as pd

from lorelab.errors import BadInput, RunFailed
from lorelab.vmalock.model.litmus import Machine, allowed
from lorelab.vmalock.model.litmus_tests import TESTS as MODELLED

ROOT = Path(__file__).resolve().parents[4]
TESTS = ROOT / "lib/kernel/vmalock/litmus"
RECORDED = ROOT / "data/litmus/vmalock.json"
MODEL = (
    "linux-kernel.bell",
    "linux-kernel.cat",
    "linux-kernel.cfg",
    "linux-kernel.def",
    "lock.cat",
)


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def measure(model: Path, herd: list[str]) -> dict:
    """Run herd7 on every test; verdicts with what they were found with.

    Parameters
    ----------
    model : Path
        The folder tools/memory-model of a kernel tree.
    herd : list of str
        herd7 and its options.

    Raises
    ------
    RunFailed
        herd7 can't be run, or gives no verdict.
    """
    kernels = [*herd, "-conf", "linux-kernel.cfg"]
    makefile = (model.parent.parent / "Makefile").read_text()
    parts = re.findall(r"^(?:VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", makefile, re.M)
    return {
        "herd7": _said([*herd, "-version"], model).strip(),
        "memory_model": f"tools/memory-model of Linux {'.'.join(parts)}",
        "memory_model_sha256": {name: digest(model / name) for name in MODEL},
        "tests": _verdicts(kernels, TESTS, model),
        "whole": _verdicts(kernels, TESTS / "whole", model),
        # herd7 brings that model.
        "arm": _verdicts(herd, TESTS / "arm", model),
    }


def _verdicts(command: list[str], tests: Path, folder: Path) -> dict[str, dict]:
    files = sorted(tests.glob("*.litmus"))
    return {file.stem: _verdict(command, file, folder) for file in files}


def _verdict(command: list[str], file: Path, folder: Path) -> dict:
    output = _said([*command, str(file)], folder)
    match = re.search(r"^Observation \S+ (Never|Sometimes|Always) (\d+) (\d+)$", output, re.M)
    if match is None:
        raise RunFailed(f"herd7 gives no verdict of {file.name}: {output.strip()[:200]}")
    return {
        "verdict": match[1],
        "states_with": int(match[2]),
        "states_without": int(match[3]),
        "file_sha256": digest(file),
    }


def _said(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except OSError as error:
        raise RunFailed(f"herd7 can't be run: {error}") from None
    return done.stdout + done.stderr


def recorded(kind: Literal["tests", "whole", "arm"] = "tests") -> dict[str, str]:
    """The recorded verdict of each test: `Never`, `Sometimes` or `Always`.

    Parameters
    ----------
    kind : str
        The model's tests, longer sequences, or those for Arm's model.

    Raises
    ------
    BadInput
        A test has changed since.
    """
    tests = json.loads(RECORDED.read_text())[kind]
    folder = TESTS if kind == "tests" else TESTS / kind
    for name, test in tests.items():
        if digest(folder / f"{name}.litmus") != test["file_sha256"]:
            raise BadInput(f"{name}.litmus has changed since herd7 ran it: record it again")
    return {name: test["verdict"] for name, test in tests.items()}


def verdicts() -> pd.DataFrame:
    """Each test: what it asks, what the machines allow, and what herd7 said of its file.

    Returns
    -------
    DataFrame
        `test`, `outcome`, `sc`, `tso`, `pso`, `weak` (`allowed` or empty), `kernel_model` (herd7's
        verdict, recorded).
    """
    by_herd = recorded()
    rows = []
    for name, test in MODELLED.items():
        can = {m.name.lower(): "allowed" if allowed(test, m)[0] else "" for m in Machine}
        rows.append({"test": name, "outcome": test.what} | can | {"kernel_model": by_herd[name]})
    return pd.DataFrame(rows)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("takes the folder tools/memory-model and the command that runs herd7")
    try:
        print(json.dumps(measure(Path(sys.argv[1]), sys.argv[2:]), indent=1))
    except (OSError, RunFailed) as error:
        sys.exit(str(error))
