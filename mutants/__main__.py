"""`make mutants`: a sample of one-line mutations, each against the fast tests of its function.

    python -m mutants [--sample N] [--seed S] [--limit SECONDS] [--budget SECONDS] [MODULE ...]
    python -m mutants [--sample N] [--seed S] --list [MODULE ...] >LIST
    python -m mutants --these LIST --keep TABLE

MODULE is a file or folder below lib/lorelab; without one, all of ROOMS. The sample is of each
design; sample.py says how it is drawn. A list of it can be tested at another commit, with its own
table of outcomes: in a worktree of an older one, after `git checkout main -- mutants`.

A table of scores comes on stdout, with each survivor and its lines; the outcome of every mutation
goes to mutants/results.csv as soon as it is there, in the place of what that table had of these
modules. A run that was broken off goes on where it stood: what was killed is not run again
while its file is the same; survivors are, for tests may have come since. Those that
mutants/equivalent.csv lists as equivalent, by file and change, are no survivors.

A compiled function is mutated with compilation off, for it would compile for longer than its tests
run; any other with it on. Fast are those of the design's tests, but for those that boot a kernel,
that then pass within the limit. A
mutation is run against those of them that run its function until one fails, as many as the budget
of seconds has room for: the fastest first, and each before other examples of one. A test that takes
MANY times what it took before is broken off, and has failed. A mutation in a function that no fast
test runs has survived.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import ExitStack
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from lorelab import atomic
from lorelab.book import mutation_scores
from lorelab.experiments import designs
from mutants.mutate import Mutation
from mutants.sample import PACKAGE, ROOT, Drawn, design_of, found, listed, runs, sample

ROOMS = (
    *("model", "workload", "experiments", "agree", "thread"),
    *("recording", "pages", "figures.py", "commands.py"),
)
"""Of each design: models, workloads, and what reads and reports; but no charts."""
MANY, BESIDES = 4, 5
"""A test may take that many times what it took, and that many seconds besides."""
TO_COMPILE = 20
"""How many times the limit a test may take that compiles."""
RESULTS = mutation_scores.RESULTS
EQUIVALENT = ROOT / "mutants" / "equivalent.csv"

COLUMNS = ["design", "file", "source", "line", "kind", "outcome", "tests", "by", "before", "after"]
"""Of RESULTS: source is the digest of the file that was mutated; outcome is killed, survived or
equivalent; tests is the number of fast tests that run its function, by the one that failed."""
KEY = ["file", "source", "line", "kind", "before", "after"]
"""What makes two rows the same mutation."""
CHANGE = ["file", "before", "after"]
"""What EQUIVALENT lists it by."""


class Fast(NamedTuple):
    """A test that passes in time."""

    seconds: float
    """Of the CPU."""
    runs: set[str]
    """Functions, FILE:NAME each."""


PASSED, FAILED, INTERRUPTED, INTERNAL, USAGE, NONE = range(6)
"""Exit codes of pytest: interrupted are tests that can't be imported, an internal error is that of
code that leaves by SystemExit, none is what is left if no chosen test is there any more."""


ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""No threads that a fork would lose, none of the plugins that the tests can do without."""


class Forks:
    """Runs pytest, each time in a fork of a process that has the libraries loaded.

    `folder` is for what these write, `plain` for a run without compilation, `root` is what the
    names of tests begin at.
    """

    def __init__(self, folder: Path, plain: bool, root: Path = ROOT) -> None:
        self.folder = folder
        self.root = root
        self.plain = ["-p", "mutants.plain"] if plain else []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mutants.forks"],
            cwd=ROOT,
            env=os.environ | ENVIRONMENT | {"NUMBA_DISABLE_JIT": str(int(plain))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Forks":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()

    def pytest(self, arguments: list[object], changed: tuple[object, ...] | None = None) -> int:
        """Exit code of pytest, or minus the signal that ended it.

        Of wrong usage nothing follows for a mutation. Such a run ends here.
        """
        always = ["-q", "--rootdir", self.root, "-p", "no:cacheprovider"]
        # Else pytest would load each module that is named *_test itself, without its mutation.
        always += ["-o", "python_files=test_*.py"]
        given = [str(one) for one in (*always, *self.plain, *arguments)]
        asked = {"arguments": given, "log": str(self.folder / "log.txt"), "changed": changed}
        print(json.dumps(asked, default=str), file=self.process.stdin, flush=True)
        if not (told := self.process.stdout.readline()):
            sys.exit("mutants: the process that forks has ended")
        if (code := int(told)) == USAGE:
            sys.exit(f"mutants: pytest ends with {code}: {self._said()}")
        return code

    def fast(self, paths: list[Path], limit: float, ran: Path) -> dict[str, Fast]:
        """Those of the tests that pass in time, in the order of their use.

        `ran` is the file of what they take and run; if it is there, they are not run.
        """
        if not ran.exists():
            if not self.plain:
                self._trace(paths, TO_COMPILE * limit, self.folder / "cold.json")
            self._trace(paths, limit, ran)
        found = sorted(json.loads(ran.read_text()).items(), key=lambda one: one[1][0])
        examples = Counter()
        ordered = []
        for id, (seconds, functions) in found:
            test = id.split("[")[0]
            ordered.append((examples[test], id, Fast(seconds, set(functions))))
            examples[test] += 1
        return {id: one for _, id, one in sorted(ordered, key=lambda one: one[0])}

    def _trace(self, paths: list[Path], limit: float, ran: Path) -> None:
        code = self.pytest(["-p", "mutants.traced", "--limit", limit, "--ran", ran, *paths])
        if code not in (PASSED, FAILED):
            sys.exit(f"mutants: the tests as they are end with {code}: {self._said()}")

    def _said(self) -> str:
        return (self.folder / "log.txt").read_text()[-1000:]

    def killer(self, tests: dict[str, Fast], changed: tuple[object, ...] | None) -> str | None:
        """The first of the tests that fails, or none; all of them if they can't be imported."""
        chosen, begun = self.folder / "chosen.json", self.folder / "begun.txt"
        allowed = {id: MANY * one.seconds + BESIDES for id, one in tests.items()}
        chosen.write_text(json.dumps(allowed))
        begun.write_text("import")
        files = dict.fromkeys(self.root / id.split("::")[0] for id in tests)
        plugin = ["-p", "mutants.chosen", "--chosen", chosen, "--begun", begun]
        code = self.pytest([*plugin, "-x", *files], changed)
        return None if code in (PASSED, NONE) else begun.read_text()


def name(file: Path) -> str:
    """Of a module."""
    return ".".join(("lorelab", *file.relative_to(PACKAGE).with_suffix("").parts))


def tests(design: str) -> list[Path]:
    """Test files of a design.

    A test_mutations.py changes the text of the model itself and would see any change of it, so it
    is none of them.
    """
    found = (ROOT / "tests" / design).rglob("test_*.py")
    return sorted(file for file in found if file.name != "test_mutations.py")


def modules(names: list[str]) -> list[Path]:
    """Modules below the named files or folders, or all that are mutated."""
    if names:
        found = [Path(name).resolve() for name in names]
    else:
        found = [
            room for name in ROOMS for one in designs() for room in PACKAGE.glob(f"{one}/{name}")
        ]
    files = [file for one in found for file in ([one] if one.is_file() else one.rglob("*.py"))]
    homes = {PACKAGE / design for design in designs()}
    return sorted(
        file
        for file in files
        if file.suffix == ".py" and file.name != "__init__.py" and homes & set(file.parents)
        if "import altair" not in file.read_text()
    )


def row(file: Path, mutation: Mutation, outcome: str, count: int, by: str | None) -> dict:
    """One of RESULTS."""
    return {
        "design": design_of(file),
        "file": str(file.relative_to(ROOT)),
        "source": mutation_scores.digest(file),
        "line": mutation.line,
        "kind": mutation.kind,
        "outcome": outcome,
        "tests": count,
        "by": by,
        "before": mutation.before,
        "after": mutation.after,
    }


def state(design: str, limit: float, plain: bool) -> Path:
    """File that keeps what the tests of a design take and run, one for each state of both."""
    total = hashlib.sha256()
    others = {PACKAGE / other for other in designs()} - {PACKAGE / design}
    for folder in (PACKAGE, ROOT / "tests" / design):
        for file in sorted(folder.rglob("*.py")):
            if others & set(file.parents):
                continue
            total.update(f"{file}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    folder = ROOT / "build" / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    how = "plain" if plain else "compiled"
    return folder / f"{design}-{how}-{limit}-{total.hexdigest()[:16]}.json"


def within(fast: dict[str, Fast], functions: Set[str], budget: float) -> dict[str, Fast]:
    """Tests that run one of the functions, as many as the budget has room for; one at least."""
    chosen, spent = {}, 0.0
    for id, one in fast.items():
        if functions & one.runs and (not chosen or spent + one.seconds <= budget):
            chosen[id] = one
            spent += one.seconds
    return chosen


def run(design: str, drawn: Drawn, limit: float, budget: float) -> Iterator[dict]:
    """Test mutations, one after the other; a row of RESULTS each.

    A test that fails for a mutation, but also by itself without one, says nothing, and is left out.
    """
    with ExitStack() as stack:
        sides = {}
        for plain in {one.compiled for _, one in drawn}:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            forks = stack.enter_context(Forks(folder, plain))
            fast = forks.fast(tests(design), limit, state(design, limit, plain))
            how = "without compilation" if plain else "compiled"
            print(f"{design}: {len(fast)} fast tests, {how}", file=sys.stderr)
            sides[plain] = forks, fast, {"import"}
        for number, (file, mutation) in enumerate(drawn, 1):
            forks, fast, passes = sides[mutation.compiled]
            place = str(file.relative_to(ROOT))
            while True:
                chosen = within(fast, runs(file, mutation.function), budget)
                changed = name(file), file, mutation.source
                by = forks.killer(chosen, changed) if chosen else None
                if by is None or by in passes or forks.killer({by: fast[by]}, None) is None:
                    break
                print(f"left out, for it fails by itself: {by}", file=sys.stderr)
                del fast[by]
            if by:
                passes.add(by)
            outcome = "killed" if by else "survived"
            print(
                f"{number} of {len(drawn)} {outcome} {place}:{mutation.line} {mutation.kind}",
                file=sys.stderr,
            )
            yield row(file, mutation, outcome, len(chosen), by)


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """RESULTS with survivors that EQUIVALENT lists as such."""
    known = set(pd.read_csv(EQUIVALENT, dtype=str)[CHANGE].agg(tuple, axis=1))
    listed = table[CHANGE].apply(tuple, axis=1).isin(known) if len(table) else False
    outcome = table["outcome"].replace("equivalent", "survived")
    return table.assign(outcome=outcome.mask((outcome == "survived") & listed, "equivalent"))


def resume(drawn: list[tuple[Path, Mutation]], kept: pd.DataFrame) -> tuple[pd.DataFrame, list]:
    """Rows of `kept` that stand for drawn mutations, and the mutations that are still to run.

    A row stands if its file is the one that was mutated then; where the mutation has survived, it
    is run again, after those that never were, for tests may have come since.
    """
    wanted = {tuple(row(*pair, "", 0, None)[name] for name in KEY): pair for pair in drawn}
    keys = pd.Series(list(kept[KEY].itertuples(index=False, name=None)), kept.index, dtype=object)
    stand = kept[keys.isin(list(wanted))]
    again = set(keys[stand.index][stand["outcome"] == "survived"])
    new = [pair for key, pair in wanted.items() if key not in set(keys)]
    return stand, new + [pair for key, pair in wanted.items() if key in again]


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Take and check what follows the command."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--sample", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=10, help="seconds that a fast test may take")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests a mutation")
    parser.add_argument("--list", action="store_true", help="list the sample, and test nothing")
    parser.add_argument("--these", type=Path, metavar="LIST", help="test those of a list")
    parser.add_argument("--keep", type=Path, metavar="TABLE", help="where its outcomes go")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    given = parser.parse_args(words)
    if lost := [name for name in given.modules if not Path(name).exists()]:
        parser.error(f"no such module: {lost[0]}")
    if bool(given.these) != bool(given.keep) or (given.these and given.modules):
        parser.error("a list (--these) is tested whole, and needs a table of its own (--keep)")
    given.files = modules(given.modules)
    if not given.files:
        parser.error("nothing to mutate: takes files below lib/lorelab/DESIGN")
    return given


def main() -> None:
    """See the module's docstring."""
    given = arguments()
    files = given.files
    if given.these:
        drawn, lost = found(pd.read_csv(given.these, dtype=str).astype({"which": int}))
        print(f"{lost} of the list are in no file of this tree", file=sys.stderr)
        for design, its in groupby(drawn, key=lambda pair: design_of(pair[0])):
            measure(design, files, list(its), given.limit, given.budget, given.keep)
        return
    samples = [
        (design, ours := list(its), sample(ours, given.sample, given.seed))
        for design, its in groupby(files, key=design_of)
    ]
    if given.list:
        tables = (listed(drawn) for *_, drawn in samples)
        print(pd.concat(tables).to_csv(index=False), end="")
        return
    for design, ours, drawn in samples:
        measure(design, ours, drawn, given.limit, given.budget)


def measure(
    design: str,
    files: list[Path],
    drawn: Drawn,
    limit: float,
    budget: float,
    results: Path | None = None,
) -> None:
    """Test mutations drawn of the files, keep each outcome as it comes, and print the score."""
    results = results or RESULTS
    types = dict.fromkeys(COLUMNS, str) | {"line": int, "tests": int}
    if results.exists():
        kept = pd.read_csv(results, dtype=types)
    else:
        kept = pd.DataFrame(columns=COLUMNS).astype(types)
    ours = kept["file"].isin([str(file.relative_to(ROOT)) for file in files])
    ours &= kept["design"] == design
    table, left = resume(drawn, judged(kept[ours]))
    for outcome in chain([None], run(design, left, limit, budget)):
        if outcome:
            table = judged(pd.concat([table, pd.DataFrame([outcome])])[COLUMNS])
            table = table.drop_duplicates(KEY, keep="last")
        every = pd.concat([kept[~ours], table]).sort_values(["design", "file", "line", "after"])
        atomic.write(results, every.to_csv(index=False))
    report(design, table)


def report(design: str, table: pd.DataFrame) -> None:
    """Print the score of a design by module, and its survivors."""
    print(pd.crosstab(table["file"], table["outcome"]).to_string())
    for one in table[table["outcome"] == "survived"].itertuples():
        print(f"\n{one.file}:{one.line} ({one.kind}, {one.tests} tests)")
        print(f"- {one.before}\n+ {one.after}")
    hit, left = (int((table["outcome"] == name).sum()) for name in ("killed", "survived"))
    print(f"\n{design}: {hit} of {hit + left} killed, {len(table) - hit - left} are equivalent\n")


if __name__ == "__main__":
    main()
