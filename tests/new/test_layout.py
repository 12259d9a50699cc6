"""`lorelab new`: a design that runs at once, and is gone without a trace."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from lorelab.book import compared, prose
from lorelab.book.dialect import dialect
from tests import ASKED
from tests.doors import answers, doors
from tests.new.test_mail import FIRST, PAGE, mbox, second
from tests.test_house import listed_rooms

ROOT = Path(__file__).parents[2]
LATER = ["--no-outputs"]
COPIED = ("lib/lorelab", "lib/kernel", "data/threads", "book", "notebooks", "tests")
SUBJECT = 'mm: "half" of \\x of 1,024 <pages>, `for` 300 % more than $a$, """ and no fewer'
ROWS = "           base    patched\nMean 1    120.95    133.59\n\nWhy not 5 ms?\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """What the command changes, of this checkout."""
    folder = tmp_path_factory.mktemp("tree")
    ignore = shutil.ignore_patterns("__pycache__", "bench")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    return folder


@pytest.fixture(scope="module")
def lorelab(tree):
    """Runs a command of the copy."""
    with doors(tree) as lorelab:
        yield lorelab


def digests(tree):
    files = (file for name in COPIED for file in (tree / name).rglob("*"))
    return {
        str(file.relative_to(tree)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_it_comes_runs_and_goes_without_a_trace(tree, lorelab):
    before = digests(tree)
    thread = tree / "thread.mbox"
    thread.write_text(mbox(FIRST.replace("mm: count", SUBJECT) + ROWS, second()))

    status, out, err = lorelab("new", "sixth", *LATER, "--thread", str(thread))
    assert status == 0, err
    assert out.split() == [
        f"notebooks/sixth/{page}.ipynb" for page in ("index", "thread", "model", "kernel")
    ]
    assert "2 messages, 5 numbers, 2 questions and doubts, all to be confirmed" in err

    # One that starts with the new design there.
    [(status, out, err)] = answers(tree, [["model", "sixth/resident", "-p", "pages=10"]])
    assert (status, err) == (0, "") and out.splitlines()[1].endswith("resident,pages,4")
    _, out, _ = lorelab("claims", "sixth")
    assert out.count("no verdict yet") == 2 and "Why not 5 ms?" in out

    listed, may_lack = listed_rooms()
    here = tree / "lib/lorelab/sixth"
    assert not [room for room in {*listed} - may_lack if not (here / room).exists()]
    written = [file for file in tree.rglob("*.py") if "sixth" in file.parts]
    for how in (["check"], ["format", "--diff"]):
        ruff = [sys.executable, "-m", "ruff", *how, "--no-cache", "--config"]
        done = subprocess.run([*ruff, ROOT / "pyproject.toml", *written], capture_output=True)
        assert done.returncode == 0, done.stdout.decode()
    for page in (tree / "notebooks/sixth").iterdir():
        nbformat.validate(nbformat.read(page, 4))
        assert [*prose.unbacked(page), *compared.unasserted(page), *dialect(page)] == []

    page = tree / "notebooks/sixth/index.ipynb"
    page.write_text(page.read_text().replace("Empty so far", "A day of work"))
    built = [tree / "build" / name for name in ("notebooks/sixth/index.json", "talk/sixth.html")]
    names = ("data/panels/sixth-half.json", "data/reproduced/sixth/one.json", "bench/sixth/twin.c")
    later = [tree / name for name in names]
    for file in (*built, *later):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    with (tree / "data/threads/unweighed.csv").open("a") as rows:
        rows.write('sixth,number-1,"nothing follows from it"\n')
    passed = tree / "tests/passed.json"
    kept = json.loads(passed.read_text()) | {"tests/sixth/model/test_resident.py": "digest"}
    passed.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    status, _, err = lorelab("new", "--remove", *LATER, "sixth")
    assert status == 0
    assert digests(tree) == before
    assert not [file for file in (*built, *later) if file.exists()]
    assert not built[0].parent.exists()
    [kept] = re.findall(r"its files are in (\S+); now run: make outputs", err)
    assert "A day of work" in (tree / kept / "notebooks/sixth/index.ipynb").read_text()
    assert (tree / kept / "data/threads/sixth.csv").exists()
    assert all((tree / kept / name).exists() for name in names)


def test_what_cannot_be_written_leaves_nothing(tree, lorelab):
    (tree / "thread.mbox").write_text(mbox(FIRST))
    before = digests(tree)
    there = tree / "data/threads/questions"
    there.rename(tree / "aside")
    there.write_text("a file where a folder should be")
    status, out, err = lorelab("new", "sixth", *LATER, "--thread", str(tree / "thread.mbox"))
    there.unlink()
    (tree / "aside").rename(there)
    assert (status, out) == (1, "")
    assert "nothing of sixth was left" in err and err.count("\n") == 1
    assert digests(tree) == before


def test_a_number_is_read_by_no_check_before_it_is_confirmed(tree, lorelab, monkeypatch):
    from lorelab.judging import threads

    (tree / "page.txt").write_text(PAGE.replace("12 ms.", "12 ms for 4,195,437 of them."))
    assert lorelab("new", "seventh", *LATER, "--thread", str(tree / "page.txt"))[0] == 0
    monkeypatch.setattr(threads, "FOLDER", tree / "data/threads")
    assert len(threads.figures("seventh")) == 0
    printed = threads.proposed("seventh")[["value", "unit"]].values.tolist()
    assert printed == [[12.0, "ms"], [4195437.0, "count"]]
    rows = tree / "data/threads/seventh.csv"
    rows.write_text(rows.read_text().replace("to be confirmed", "thread file"))
    assert threads.figure("seventh", "number-1") == 12.0
    assert lorelab("new", "--remove", *LATER, "seventh")[0] == 0


REFUSED = [
    (["swap", "--thread", "thread.mbox"], "swap is taken by lib/lorelab/swap"),
    (["lab", "--thread", "thread.mbox"], "lab is taken by lib/lorelab/lab"),
    (["json", "--thread", "thread.mbox"], "json is taken by the standard library"),
    (["lambda", "--thread", "thread.mbox"], "lambda is taken by Python's grammar"),
    (["params", "--thread", "thread.mbox"], "params is taken by lib/lorelab/params.py"),
    (["doors", "--thread", "thread.mbox"], "doors is taken by tests/doors.py"),
    (["guide", "--thread", "thread.mbox"], "guide is taken by notebooks/guide.ipynb"),
    (["model", "--thread", "thread.mbox"], "model is taken by the command lorelab model"),
    (["faultaround", "--thread", "thread.mbox"], "is taken by lib/lorelab/faultaround"),
    (["Six", "--thread", "thread.mbox"], "can't name a design: takes 2 to 20 of a-z"),
    (["../x", "--thread", "thread.mbox"], "can't name a design"),
    (["sixth", "--thread", "nothing"], "cannot read nothing: No such file"),
    (["sixth", "--thread", "book/_toc.yml"], "book/_toc.yml has no message"),
    (["sixth"], "give --thread FILE to lay out a design, or --remove"),
    (["sixth", "--remove", "--thread", "thread.mbox"], "give --thread FILE to lay out"),
    (["--remove", "nothing"], "there is no design nothing: takes one of swap, "),
    *((["--remove", name], f"names {name}; take that out first") for name in ASKED),
]


def test_bad_input_is_one_line_and_nothing_is_written(tree, lorelab):
    (tree / "thread.mbox").write_text(mbox(FIRST))
    before = digests(tree)
    wrong = []
    for words, says in REFUSED:
        answer = lorelab("new", *words)
        one_line = says in answer.err and answer.err.count("\n") == 1
        if answer[:2] != (2, "") or not one_line:
            wrong.append((words, answer))
    assert wrong == []
    assert digests(tree) == before


def test_a_thread_without_a_number_or_a_question(tree, lorelab):
    (tree / "bare.mbox").write_text(mbox(FIRST.replace("It takes 12 ms.", "Hello.")))
    status, _, err = lorelab("new", "sixth", *LATER, "--thread", str(tree / "bare.mbox"))
    assert status == 0, err
    assert lorelab("claims", "sixth")[0] == 0
    assert lorelab("new", "--remove", *LATER, "sixth")[0] == 0


def test_pages_run_that_came_and_that_list_all_chapters(tree, lorelab, monkeypatch):
    from lorelab.book import build
    from lorelab.cli import cli
    from lorelab.new import commands

    ran = []
    monkeypatch.setattr(commands, "ROOT", tree)
    monkeypatch.setattr(build, "store", lambda root, names: ran.append((root, names)))
    (tree / "thread.mbox").write_text(mbox(FIRST))
    words = ["new", "eighth", "--thread", str(tree / "thread.mbox")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0 and lorelab("new", "--remove", *LATER, "eighth")[0] == 0
    pages = [f"notebooks/eighth/{page}.ipynb" for page in ("index", "thread", "model", "kernel")]
    of_all = [f"notebooks/{page}.ipynb" for page in ("ledger", "glossary", "bibliography")]
    assert ran == [(tree, [*pages, *of_all])]
