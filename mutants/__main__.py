"""`make mutants`: a sample of one-line mutations, each against the fast tests of its module.

    python -m mutants [--sample N] [--seed S] [--limit SECONDS] [MODULE ...]

MODULE is a file or folder below lib/lorelab; without one, all of ROOMS. The sample is of each
design. A table of scores comes on stdout, with each survivor and its lines; the outcome of every
mutation goes to mutants/results.csv as soon as it is there, in the place of what that table had of
these modules. A run that was broken off goes on where it stood: what was killed is not run again
while its file is the same; survivors are, for tests may have come since. Survivors that
mutants/equivalent.csv lists as equivalent, by file, line and change, are no survivors.

Mutations run in a copy of the tree, without compilation, for one of them would compile for longer
than its tests run. Fast are those tests that then pass within the limit, each. A run that goes on
for MANY times the time of the tests as they are is broken off, and the mutation counts as killed.
A module without a fast test is untested, and counts in no score.
"""

import argparse
import ast
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from itertools import groupby, islice
from pathlib import Path

import pandas as pd

from lorelab import whole
from mutants.mutate import Mutation, mutations, valid

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "lorelab"
ROOMS = ("model", "workload", "experiments", "agree", "thread", "damo")
"""Of each design: models, workloads, and what reads and reports."""
MANY = 4
RESULTS, EQUIVALENT = (ROOT / "mutants" / name for name in ("results.csv", "equivalent.csv"))


COLUMNS = ["design", "file", "source", "line", "kind", "outcome", "before", "after"]
"""Of RESULTS: source is the digest of the file that was mutated; outcome is killed, survived,
equivalent, or untested if its module has no fast test."""
KEY = ["file", "source", "line", "kind", "before", "after"]
"""What makes two rows the same mutation."""


@cache
def imported(file: Path) -> set[str]:
    """Modules of the library that a file imports, by their whole names."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{one.name}" for one in node.names}
    return found


def tests(file: Path) -> list[Path]:
    """The tests of a module; none of one that is in no room of a design.

    Its own and those that import it; without its own, those of its room, too. If none imports it,
    those that import a module that does. A test_mutations.py changes the text of the model itself
    and would see any change of it, so it is none of them.
    """
    inside = file.relative_to(PACKAGE).with_suffix("").parts if PACKAGE in file.parents else ()
    if len(inside) < 3:
        return []
    home = ROOT / "tests" / inside[0]
    own = home / inside[1] / f"test_{file.stem}.py"
    room = [own] if own.exists() else (home / inside[1]).glob("test_*.py")
    name = _name(file)
    candidates = list(home.rglob("test_*.py"))
    direct = [one for one in candidates if name in imported(one)]
    if not direct:
        users = {_name(one) for one in (PACKAGE / inside[0]).rglob("*.py") if name in imported(one)}
        direct = [one for one in candidates if users & imported(one)]
    return sorted({*room, *direct} - set(home.rglob("test_mutations.py")))


def _name(file: Path) -> str:
    return ".".join(("lorelab", *file.relative_to(PACKAGE).with_suffix("").parts))


def tree(folder: Path) -> Path:
    """A copy of the library in a tree that otherwise is the real one; returns the copy."""
    for entry in ROOT.iterdir():
        if entry.name not in ("lib", ".git", "build", ".hypothesis"):
            (folder / entry.name).symlink_to(entry)
    (folder / "lib").mkdir()
    (folder / "lib" / "kernel").symlink_to(ROOT / "lib" / "kernel")
    copy = folder / "lib" / "lorelab"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


PASSED, FAILED, INTERRUPTED = 0, 1, 2
"""Exit codes of pytest; the last is that of tests that can't be imported."""


def pytest(folder: Path, arguments: list[str], seconds: float | None) -> int | None:
    """Exit code of pytest on the copy in `folder`, or none if it does not end in time.

    Of a code beyond those of tests that pass, fail, or can't be imported nothing follows for a
    mutation: no tests collected, pytest used wrongly, out of memory. Such a run ends here.
    """
    env = {"PYTHONPATH": f"{folder / 'lib'}:{ROOT}", "NUMBA_DISABLE_JIT": "1"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=no", "-p", "no:cacheprovider"]
    command += ["-p", "mutants.plain"]
    try:
        done = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=os.environ | env,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (PASSED, FAILED, INTERRUPTED):
        sys.exit(f"mutants: pytest ends with {done.returncode}: {done.stdout.decode()[-500:]}")
    return done.returncode


def fast(folder: Path, chosen: list[Path], limit: float) -> list[str]:
    """Those of the tests that pass in time without compilation, the fastest first."""
    passed = folder / "passed.txt"
    paths = [str(path.relative_to(ROOT)) for path in chosen]
    limited = ["-p", "mutants.fast", "--limit", str(limit), "--passed", str(passed)]
    pytest(folder, [*limited, *paths], None)
    return passed.read_text().splitlines()


def killed(folder: Path, ids: list[str], seconds: float) -> bool:
    """Whether a test fails on the copy in `folder`, or does not end in time."""
    listed = folder / "ids.txt"
    listed.write_text("".join(f"{id}\n" for id in ids))
    return pytest(folder, ["-x", f"@{listed}"], seconds) != PASSED


def modules(names: list[str]) -> list[Path]:
    """Modules below the named files or folders, or all that are mutated."""
    if names:
        found = [Path(name).resolve() for name in names]
    else:
        found = [room for name in ROOMS for room in PACKAGE.glob(f"*/{name}")]
    files = [file for one in found for file in ([one] if one.is_file() else one.rglob("*.py"))]
    return sorted(file for file in files if file.name != "__init__.py" and tests(file))


def row(file: Path, mutation: Mutation, outcome: str) -> dict:
    """One of RESULTS."""
    return {
        "design": file.relative_to(PACKAGE).parts[0],
        "file": str(file.relative_to(ROOT)),
        "source": hashlib.sha256(file.read_bytes()).hexdigest()[:12],
        "line": mutation.line,
        "kind": mutation.kind,
        "outcome": outcome,
        "before": mutation.before,
        "after": mutation.after,
    }


def sample(files: list[Path], size: int, seed: int) -> list[tuple[Path, Mutation]]:
    """Draw mutations of the files, those of a file together."""
    every = [(file, one) for file in files for one in mutations(file.read_text())]
    random.Random(seed).shuffle(every)
    drawn = sorted(islice((pair for pair in every if valid(pair[1])), size))
    print(f"{len(drawn)} of {len(every)} mutations, seed {seed}", file=sys.stderr)
    return drawn


def run(drawn: list[tuple[Path, Mutation]], limit: float) -> Iterator[dict]:
    """Test mutations, one after the other; a row of RESULTS each."""
    known = set(pd.read_csv(EQUIVALENT, dtype=str)[["file", "before", "after"]].agg(tuple, axis=1))
    against = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        copy = tree(folder)
        for number, (file, mutation) in enumerate(drawn, 1):
            key = tuple(tests(file))
            if key not in against:
                ids = fast(folder, list(key), limit)
                begun = time.monotonic()
                if ids and killed(folder, ids, 3600):
                    sys.exit(f"mutants: {ids} do not pass a second time")
                against[key] = ids, MANY * (time.monotonic() - begun) + 5
                print(f"{len(ids)} fast tests of {file.parent.name}", file=sys.stderr)
            ids, allowed = against[key]
            told = (str(file.relative_to(ROOT)), mutation.before, mutation.after)
            if not ids:
                outcome = "untested"
            else:
                target = copy / file.relative_to(PACKAGE)
                target.write_text(mutation.source)
                caught = killed(folder, ids, allowed)
                shutil.copy(file, target)
                outcome = "killed" if caught else "equivalent" if told in known else "survived"
            print(
                f"{number} of {len(drawn)} {outcome} {told[0]}:{mutation.line} {mutation.kind}",
                file=sys.stderr,
            )
            yield row(file, mutation, outcome)


def resume(drawn: list[tuple[Path, Mutation]], kept: pd.DataFrame) -> tuple[pd.DataFrame, list]:
    """Rows of `kept` that stand for drawn mutations, and the mutations that are still to run.

    A row stands if its mutation was killed and its file is the one that was mutated then.
    """
    wanted = {tuple(row(*pair, "")[name] for name in KEY): pair for pair in drawn}
    killed = kept[kept["outcome"] == "killed"]
    keys = list(killed[KEY].itertuples(index=False, name=None))
    stand = killed.loc[[key in wanted for key in keys]]
    return stand, [pair for key, pair in wanted.items() if key not in set(keys)]


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5, help="seconds that a fast test may take")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    given = parser.parse_args()
    if lost := [name for name in given.modules if not Path(name).exists()]:
        parser.error(f"no such module: {lost[0]}")
    files = modules(given.modules)
    if not files:
        parser.error("none of these has tests of its own: takes files below lib/lorelab/DESIGN")
    for design, its in groupby(files, key=lambda file: file.relative_to(PACKAGE).parts[0]):
        measure(design, list(its), given.sample, given.seed, given.limit)


def measure(design: str, files: list[Path], size: int, seed: int, limit: float) -> None:
    """Test a sample of the files' mutations, keep each outcome as it comes, and print the score."""
    kept = pd.read_csv(RESULTS, dtype=dict.fromkeys(COLUMNS, str) | {"line": int})
    ours = kept["file"].isin([str(file.relative_to(ROOT)) for file in files])
    table, left = resume(sample(files, size, seed), kept[ours])
    for outcome in run(left, limit):
        table = pd.concat([table, pd.DataFrame([outcome])])[COLUMNS]
        every = pd.concat([kept[~ours], table]).sort_values(["design", "file", "line"])
        whole.write(RESULTS, every.to_csv(index=False))
    report(design, table)


def report(design: str, table: pd.DataFrame) -> None:
    """Print the score of a design by module, and its survivors."""
    counts = table.pivot_table(index="file", columns="outcome", values="line", aggfunc="count")
    print(counts.fillna(0).astype(int).to_string())
    for one in table[table["outcome"] == "survived"].itertuples():
        print(f"\n{one.file}:{one.line} ({one.kind})\n- {one.before}\n+ {one.after}")
    judged = table[table["outcome"].isin(["killed", "survived"])]
    hit = int((judged["outcome"] == "killed").sum())
    print(f"\n{design}: {hit} of {len(judged)} killed, {len(table) - len(judged)} not judged\n")


if __name__ == "__main__":
    main()
