"""Which mutations are tested: some of every function of a model, and bounds before the rest."""

import ast
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path

import pandas as pd

from mutants.mutate import KINDS, Mutation, alike, constants, mutations, valid

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "lorelab"
LISTED = ["file", "function", "kind", "before", "after", "which"]
"""What a list has of a mutation; which of those of this text in the function it is, from 0."""
LATE = ("exchanged", "dropped")
"""Kinds that come after the others, in each function: tests were seen to catch them."""

Drawn = list[tuple[Path, Mutation]]


def design_of(file: Path) -> str:
    """Design that a file of the library belongs to."""
    return file.relative_to(PACKAGE).parts[0]


@cache
def _sources(design: str) -> dict[Path, str]:
    return {file: file.read_text() for file in sorted((PACKAGE / design).rglob("*.py"))}


@cache
def _families(design: str) -> list[tuple[str, ...]]:
    return [family for text in _sources(design).values() for family in alike(text)]


@cache
def _every(file: Path) -> list[tuple[tuple, Mutation]]:
    # Each with what LISTED says of it: that stays where lines above it come and go.
    seen, every = Counter(), []
    for one in mutations(file.read_text(), _families(design_of(file))):
        text = str(file.relative_to(ROOT)), one.function, one.kind, one.before, one.after
        every.append(((*text, seen[text]), one))
        seen[text] += 1
    return every


def sample(files: list[Path], size: int, seed: int) -> Drawn:
    """Draw mutations of files; those of a file stand together.

    One of each kind comes first. Then every function of a model has one, of the first of KINDS that
    it has. Then those functions have a second and all others, and the constants, a first, and so
    on, each time of another kind, those of LATE last. Where there is a choice, random numbers
    decide: each mutation has its own, which follows from the seed and from its text, so that the
    sample stays as it is where the files do.

    Parameters
    ----------
    files : list of Path
    size : int
        Of the sample; less where there are not so many.
    seed : int
    """
    functions = defaultdict(lambda: defaultdict(list))
    for file in files:
        for text, one in _every(file):
            number = hashlib.sha256(repr((seed, *text)).encode()).digest()
            functions[file, one.function][one.kind].append((number, file, one))
    ordered, firsts = [], {}
    for (file, function), kinds in functions.items():
        waits = file.relative_to(PACKAGE).parts[1] != "model" or function.isupper()
        for turn, one in enumerate(_in_turns(kinds)):
            place = (waits + turn, *one)
            ordered.append(place)
            kind = one[2].kind
            firsts[kind] = min(place, firsts.get(kind, place))
    first = set(firsts.values())
    queue = sorted(ordered, key=lambda place: (place not in first, place))
    drawn = islice(((file, one) for *_, file, one in queue if valid(one)), size)
    print(f"{min(size, len(queue))} of {len(queue)} mutations, seed {seed}", file=sys.stderr)
    return sorted(drawn)


def _in_turns(kinds: dict[str, list[tuple]]) -> Iterator[tuple]:
    # The mutations of a function in the order of their use.
    best, *rest = (kind for kind in KINDS if kind in kinds)
    rest.sort(key=lambda kind: (kind in LATE, min(kinds[kind])))
    rows = zip_longest(*(sorted(kinds[kind]) for kind in (best, *rest)))
    return (one for row in rows for one in row if one)


def listed(drawn: Drawn) -> pd.DataFrame:
    """List mutations so that `found` has them again, at another commit too."""
    known = {
        (file, one): text for file in {file for file, _ in drawn} for text, one in _every(file)
    }
    return pd.DataFrame([known[pair] for pair in drawn], columns=LISTED)


def found(table: pd.DataFrame) -> tuple[Drawn, int]:
    """Mutations of a list, and how many of it the files no longer have."""
    files = [ROOT / name for name in table["file"].unique()]
    every = {text: (file, one) for file in files if file.exists() for text, one in _every(file)}
    wanted = list(table[LISTED].itertuples(index=False, name=None))
    return sorted(every[text] for text in wanted if text in every), sum(
        text not in every for text in wanted
    )


@cache
def readers(design: str, constant: str) -> frozenset[str]:
    """Functions of a design, FILE:NAME each, that read a constant, or one that is made of it."""
    names, before = {constant}, set()
    while names != before:
        before = set(names)
        for text in _sources(design).values():
            for name, value in constants(ast.parse(text)):
                if names & _read(value):
                    names.add(name)
    functions = set()
    for file, text in _sources(design).items():
        for top in ast.parse(text).body:
            for one in [top] if isinstance(top, ast.FunctionDef) else getattr(top, "body", []):
                if isinstance(one, ast.FunctionDef) and names & _read(one):
                    owner = f"{top.name}." if isinstance(top, ast.ClassDef) else ""
                    functions.add(f"{file}:{owner}{one.name}")
    return frozenset(functions)


def _read(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {one.id for one in parts if isinstance(one, ast.Name)} | {
        one.attr for one in parts if isinstance(one, ast.Attribute)
    }


def runs(file: Path, function: str) -> frozenset[str]:
    """Functions that a test has to run to see a mutation: its own, or a constant's readers."""
    if function.isupper():
        return readers(design_of(file), function)
    return frozenset([f"{file}:{function}"])
