"""The rooms of a new design: one experiment that runs, and pages that say what is still empty.

Every file is of the design's own folders but these, which get a line or a section each: the list of
designs, the table of contents, and the ledger.
"""

import csv
import io
import json
import keyword
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from string import Template

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import LIST, designs
from lorelab.judging.threads import TO_BE_CONFIRMED
from lorelab.new import cells
from lorelab.new.figures import Figure, Sentence
from lorelab.new.mail import Message

NAME = re.compile(r"[a-z][a-z0-9]{1,19}")
ROOMS = (
    "lib/lorelab/{name}",
    "lib/kernel/{name}",
    "notebooks/{name}",
    "tests/{name}",
    "data/threads/{name}.csv",
    "data/threads/messages/{name}.csv",
    "data/threads/questions/{name}.csv",
)
"""What is written for a design."""
LATER = (
    *("data/kernel/{name}", "data/agreements/{name}", "data/sensitivity/{name}"),
    *("data/reproduced/{name}", "bench/{name}", "data/bench/{name}.json"),
    "data/panels/{name}-*.json",
)
"""What comes to it as it grows; and rows of `UNWEIGHED` and `PASSED`."""
UNWEIGHED, PASSED = "data/threads/unweighed.csv", "tests/passed.json"
DERIVED = ("notebooks/.*/{name}", "build/*/{name}", "build/*/{name}.*")
"""What was made of its pages: stored digests, runs that were kept, the book and its deck."""
ENDS = ("", ".py", ".ipynb")
"""A room hides a module or a page of its name, which would be gone for all others."""
REMOVED = "build/removed"
"""Where a removed design is kept: it may be the only copy of somebody's day."""
STRING_WIDTH = 93
"""Characters of a string on a line, beside its indent, its quotes and a comma."""
PAGES = ("index", "thread", "model", "kernel")
TOC, LAST = "book/_toc.yml", "  - caption: Appendix\n"
"""The table of contents, and the part of it that chapters stand in front of."""
LEDGER = "notebooks/ledger.ipynb"
NUMBERS = (
    *("id", "source", "message", "author", "date", "place", "quantity"),
    *("workload", "configuration", "value", "unit", "seen", "note"),
)
QUESTIONS = ("id", "statement", "place")
MESSAGES = ("message", "author", "date", "subject")


def check_name(name: str, root: Path, commands: Iterable[str] = ()) -> None:
    """Raise BadInput for a name that can't be a design's, or is taken.

    Parameters
    ----------
    name : str
    root : Path
        The checkout.
    commands : iterable of str
        Names of `lorelab`'s commands, of which a design may become one.
    """
    if not NAME.fullmatch(name):
        raise BadInput(f"{name!r} can't name a design: takes 2 to 20 of a-z, 0-9, a letter first")
    others = [f"{room}{end}" for room in (*_rooms(name), *_later(name)) for end in ENDS]
    taken = [other for other in others if (root / other).exists()]
    if keyword.iskeyword(name):
        taken.append("Python's grammar")
    if name in sys.stdlib_module_names:
        taken.append("the standard library")
    if name in commands:
        taken.append(f"the command lorelab {name}")
    if taken:
        raise BadInput(f"{name} is taken by {taken[0]}; give another name")


def lay_out(
    name: str,
    messages: list[Message],
    figures: list[Figure],
    sentences: list[Sentence],
    root: Path,
) -> list[Path]:
    """Write the files of a design, and its line in those that all share; returns its pages.

    Parameters
    ----------
    name : str
        As `check_name` takes it.
    messages : list of Message
        The thread.
    figures, sentences : list
        What it prints and asks, as `lorelab.new.figures` proposes it.
    root : Path
        The checkout.
    """
    title = re.sub(r"^(?:(?:re|fwd?):|\[[^]]*\])\s*", "", messages[0].subject, flags=re.I)
    title = re.sub(r"\s+", " ", re.sub(r"^(?:\[[^]]*\]\s*)+", "", title)) or name
    words = {
        "name": name,
        "title_code": _quoted(title),
        "title_literal": _literal(title),
        "link": f"https://lore.kernel.org/r/{messages[0].id}" if messages[0].id else "",
        "who_literal": _literal(f"{messages[0].author}, {messages[0].posted[:10] or 'undated'}"),
        "who_code": _quoted(messages[0].author),
    }
    texts = {path: _sorted(text.substitute(words)) for path, text in _templates(name)}
    texts |= {
        f"data/threads/{name}.csv": _csv(NUMBERS, _numbers(figures)),
        f"data/threads/messages/{name}.csv": _csv(
            MESSAGES, ((one.id, one.author, one.posted, one.subject) for one in messages)
        ),
        f"data/threads/questions/{name}.csv": _csv(QUESTIONS, _questions(sentences)),
    }
    try:
        for path, text in texts.items():
            page = path.endswith(".cells")
            file = root / (path.replace(".cells", ".ipynb") if page else path)
            file.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(file, cells.notebook(text) if page else text)
        _change(root, _with(name, title))
    except OSError as error:
        _change(root, _without(name))
        for room in _rooms(name):
            _delete(root / room)
        why = f"cannot write {error.filename}: {error.strerror}"
        raise RunFailed(f"{why}; nothing of {name} was left") from None
    return [root / f"notebooks/{name}/{page}.ipynb" for page in PAGES]


def remove(name: str, root: Path) -> Path:
    """Take a design away again, with all that was recorded, judged or written of it.

    Returns
    -------
    Path
        The folder that has its files now.

    Raises
    ------
    BadInput
        There is no such design, or others name it.
    """
    if name not in designs():
        raise BadInput(f"there is no design {name}: takes one of {', '.join(designs())}")
    if by := _named_by(name, root):
        raise BadInput(f"{by} names {name}; take that out first")
    (root / REMOVED).mkdir(parents=True, exist_ok=True)
    kept = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root / REMOVED))
    _change(root, _without(name))
    for pattern in (*_rooms(name), *_later(name)):
        for room in list(root.glob(pattern)):
            target = kept / room.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(room, target)
    for pattern in DERIVED:
        for file in list(root.glob(pattern.format(name=name))):
            _delete(file)
    return kept


def _rooms(name: str) -> list[str]:
    return [room.format(name=name) for room in ROOMS]


def _later(name: str) -> list[str]:
    return [room.format(name=name) for room in LATER]


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def _named_by(name: str, root: Path) -> str | None:
    """A page or module of another that links to a design or imports it, but for the ledger."""
    link = re.compile(rf"\({name}/\w+\.|\.\./{name}/|lorelab\.{name}\b|experiment\(.{name}/")
    own = {root / room for room in _rooms(name)} | {root / LEDGER}
    others = [*(root / "notebooks").rglob("*.ipynb"), *(root / "lib/lorelab").rglob("*.py")]
    for file in sorted(others):
        if not own & {file, *file.parents} and link.search(file.read_text()):
            return str(file.relative_to(root))
    return None


def _templates(name: str) -> Iterator[tuple[str, Template]]:
    """Path and text of each file."""
    rooms = Path(str(files("lorelab.new"))) / "rooms"
    for file in sorted(rooms.rglob("*.in")):
        path = str(file.relative_to(rooms).with_suffix("")).replace("NAME", name)
        yield path, Template(file.read_text())


def _sorted(text: str) -> str:
    """A module with its imports of the library in order, wherever the design's name comes."""
    block = re.compile(r"(?:^from lorelab.*\n){2,}", re.M)
    return block.sub(lambda match: "".join(sorted(match[0].splitlines(True))), text)


def _quoted(text: str) -> str:
    """What somebody else wrote, on a page, as code, for it may have numbers or marks of its own."""
    return f"`{text.replace('`', chr(39))}`"


def _literal(text: str) -> str:
    """A string as ruff formats it: with fewer escapes, and on several lines where it is long."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    parts = [""]
    for letter in text:
        # ASCII, for ruff warns of letters that look like others.
        escaped = "\\" * (letter == quote) + letter.encode("unicode_escape").decode()
        if len(parts[-1] + escaped) > STRING_WIDTH:
            parts.append("")
        parts[-1] += escaped
    return "\n    ".join(f"{quote}{part}{quote}" for part in parts)


def _csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _numbers(figures: list[Figure]) -> Iterator[tuple[object, ...]]:
    """Rows of data/threads, as its README has them; all are to be confirmed."""
    for number, one in enumerate(figures, 1):
        mail = one.message
        stands = (mail.name, mail.author, mail.posted[:10], f"line {one.line}")
        guess = (one.quantity, "", "", f"{one.value:.15g}", one.unit)
        note = "in a quote: another's" if one.quoted else ""
        yield (f"number-{number}", "thread", *stands, *guess, TO_BE_CONFIRMED, note)


def _questions(sentences: list[Sentence]) -> Iterator[tuple[str, ...]]:
    """Rows of data/threads/questions: each question and objection by name, with its place."""
    counted = {"question": 0, "objection": 0}
    for one in sentences:
        counted[one.kind] += 1
        place = f"line {one.line} ({one.message.author}, {one.message.name})"
        yield (f"{one.kind}-{counted[one.kind]}", one.text, place)


def _change(root: Path, changes: dict[str, Callable[[str], str]]) -> None:
    for path, change in changes.items():
        if path == PASSED and not (root / path).exists():
            continue
        before = (root / path).read_text()
        if (after := change(before)) != before:
            atomic.write(root / path, after)


def _with(name: str, title: str) -> dict[str, Callable[[str], str]]:
    """What a design changes in the files that all share."""
    chapters = "".join(f"      - file: {name}/{page}\n" for page in PAGES)
    part = f"  - caption: {json.dumps(title, ensure_ascii=False)}\n    chapters:\n{chapters}"
    section = (
        f"%% markdown {name}-text\n## {name}: {_quoted(title)}\n\n"
        f"[The thread]({name}/thread.ipynb)\n"
        f'%% code {name}-claims\ncollected("{name}")\n'
    )
    return {
        LIST: lambda text: f"{text}{name}\n",
        TOC: lambda text: text.replace(LAST, part + LAST),
        LEDGER: lambda text: cells.add(text, section),
    }


def _without(name: str) -> dict[str, Callable[[str], str]]:
    """The same, taken back."""
    part = re.compile(rf"  - caption: .*\n    chapters:\n(?:      - file: {name}/.*\n)+")
    line = re.compile(rf"^{name}\n", re.M)
    row = re.compile(rf"^{name},.*\n", re.M)
    return {
        LIST: lambda text: line.sub("", text),
        TOC: lambda text: part.sub("", text),
        LEDGER: lambda text: cells.take(text, {f"{name}-text", f"{name}-claims"}),
        UNWEIGHED: lambda text: row.sub("", text),
        PASSED: lambda text: _other_files(text, f"tests/{name}/"),
    }


def _other_files(text: str, folder: str) -> str:
    """What `passed.json` says of the other files."""
    kept = {file: digest for file, digest in json.loads(text).items() if folder not in file}
    return json.dumps(kept, indent=1, sort_keys=True) + "\n" if folder in text else text
