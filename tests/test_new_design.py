"""A new design: its own folders and one line in the list, and every door takes it."""

import csv
import io
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from lorelab.experiments import LIST, designs
from lorelab.lab import cache, recipes
from tests import lacking
from tests.doors import answers, doors

ROOT = Path(__file__).parents[1]
ROOMS = {
    "lib/lorelab/empty/__init__.py": """\
from lorelab.empty.params import Nothing
from lorelab.experiments import Experiment

EXPERIMENTS = [
    Experiment(name="empty/no-thing", question="Is there anything?", Params=Nothing),
]
""",
    "lib/lorelab/empty/params.py": """\
from lorelab.params import Params, param


class Nothing(Params):
    seed: int = param(1, "seed", ge=0)
""",
    "lib/kernel/empty/patches/README.md": "# Patches for empty\n",
}
MODEL = {
    "lib/lorelab/empty/experiments/__init__.py": "",
    "lib/lorelab/empty/experiments/no_thing.py": """\
from lorelab.counters import table


def simulate(params):
    return table("empty/no-thing", "v", "model", {"things": ("things", [params.seed])})
""",
    "lib/lorelab/empty/thread/__init__.py": "",
    "lib/lorelab/empty/thread/claims.py": """\
from lorelab.judging.claims import Claim, ClaimVerdict, Weighed

CLAIMS = [
    Claim(
        "empty", "one", "It is so.", "line 1", "by eye",
        lambda: Weighed(ClaimVerdict.HOLDS, "", {}),
    )
]
""",
    "lib/lorelab/empty/commands.py": """\
import click


@click.command()
def command():
    print("in")


command.name = "empty"
""",
}

GUEST = """\
def run(params):
    for seed in params["seeds"]:
        if seed in params["panics"]:
            open("/proc/sysrq-trigger", "w").write("c")
        yield {"c": seed}
"""
PANICS = {
    "lib/lorelab/empty/kernel/__init__.py": "",
    "lib/lorelab/empty/kernel/no_thing.py": """\
from lorelab.counters import table
from lorelab.lab import boot
from lorelab.lab.run import Measurement, Request, one_boot


def request(batch):
    seeds = [params.seed for params in batch]
    job = boot.Job("empty", "points", {"seeds": seeds, "panics": [3]}, 60.0, len(seeds))
    return Request(boot.Machine(memory_mib=512), job)


def counters(params, measured, run):
    return table("empty/no-thing", "v", "kernel", {"c": ("u", [measured.rows[run]["c"]])})


measure = Measurement("empty/no-thing", request, counters, machine=one_boot)
""",
    "lib/kernel/empty/guest/points.py": GUEST,
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The library and what runs in the guest, with one design more."""
    folder = tmp_path_factory.mktemp("copy")
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("lib/lorelab", "lib/kernel", "data/threads"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    write(folder, ROOMS)
    with (folder / LIST).open("a") as names:
        names.write("empty\n")
    return folder


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def lorelab(copy):
    """Runs a door of the copy; nothing is built there."""
    with doors(copy) as lorelab:
        yield lorelab


TAKE_ALL = [
    (["list"], "empty/no-thing (): Is there anything?"),
    (["claims", "empty"], "design,id,statement"),
    (["lab", "record", "empty"], ""),
    (["lab", "status"], ""),
    (["doctor", "--packages"], "qemu-system-x86"),
]
HAS_NOT = [
    (["model", "empty/no-thing"], "has no model half; use `lorelab kernel empty/no-thing`"),
    (["kernel", "empty/no-thing"], "has no kernel half; use `lorelab model empty/no-thing`"),
    (["agree", "empty/no-thing"], "has no model half to agree with"),
    (["model", "empty/no-thing", "-p", "seed=-1"], "seed=-1: takes a value greater than"),
    (["model", "empty/nothing"], "unknown experiment empty/nothing: takes one of "),
    (["lab", "build", "emty"], "unknown design emty: takes one of "),
]


def test_doors_that_take_all_designs(lorelab):
    wrong = [
        (words, answer)
        for words, says in TAKE_ALL
        if ((answer := lorelab(*words)).status, answer.err) != (0, "") or says not in answer.out
    ]
    assert wrong == []


MAIL = """\
From: Ada Lovelace <ada@example.org>
Date: Mon, 9 Mar 2020 11:23:45 +0100
Subject: [PATCH] mm: count
Message-ID: <one@example.org>

Why does it take 12 ms?
"""


def test_the_same_doors_take_one_that_the_command_laid_out(copy, tmp_path):
    shutil.copytree(copy, tmp_path, dirs_exist_ok=True)
    for name in ("book/_toc.yml", "notebooks/ledger.ipynb"):
        write(tmp_path, {name: (ROOT / name).read_text(), "thread.mail": MAIL})
    [(status, out, err)] = answers(
        tmp_path, [["new", "laid", "--no-outputs", "--thread", "thread.mail"]]
    )
    assert status == 0 and len(out.split()) == 4, err
    asked = [
        *TAKE_ALL,
        (["list"], "laid/resident (model and kernel): How many pages"),
        (["model", "laid/resident", "-p", "pages=10"], ",4"),
        (["claims", "laid"], "Why does it take 12 ms?"),
        (["lab", "record", "laid"], ""),
    ]
    found = answers(tmp_path, [words for words, _ in asked])
    wrong = [
        (words, answer)
        for (words, says), answer in zip(asked, found, strict=True)
        if (answer.status, answer.err) != (0, "") or says not in answer.out
    ]
    assert wrong == []
    assert answers(tmp_path, [["new", "--remove", "--no-outputs", "laid"]])[0].status == 0
    assert (tmp_path / LIST).read_text() == (copy / LIST).read_text()


def test_what_it_has_not_is_one_line(lorelab):
    wrong = []
    for words, says in HAS_NOT:
        answer = lorelab(*words)
        one_line = says in answer.err and answer.err.count("\n") == 1
        if answer[:2] != (2, "") or not one_line:
            wrong.append((words, answer))
    assert wrong == []


def test_without_a_record_nothing_can_be_verified(lorelab):
    status, out, err = lorelab("lab", "verify", "empty")
    assert (status, out) == (1, "")
    assert "nothing was measured again" in err and err.count("\n") == 1


def test_the_laboratory_knows_its_kernel(lorelab):
    """It shares the unmodified one, as every design does that has no patch and no config."""
    _, out, _ = lorelab("lab", "status")
    if "not found; as root" in out:
        lacking("needs the packages that build a kernel (lorelab doctor names them)")
    shared = recipes.recipe().digest
    for design in designs():
        has_its_own = recipes.recipe(design).digest != shared
        assert (f"kernel of {design} " in out) == has_its_own
    assert "unmodified kernel " in out and "kernel of empty" not in out


def test_rooms_are_found_by_name(copy, tmp_path):
    """A model half, claims, a door of its own, and a page that is run with other parameters."""
    shutil.copytree(copy, tmp_path, dirs_exist_ok=True)
    write(tmp_path, MODEL)
    cells = [
        nbformat.v4.new_code_cell("import lorelab"),
        nbformat.v4.new_code_cell("seed: int = 1", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell('given = lorelab.check("empty/no-thing", seed=seed)\ngiven.seed'),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    page = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), page)
    with doors(tmp_path) as lorelab:
        assert "empty/no-thing (model): Is there" in lorelab("list").out
        _, out, _ = lorelab("model", "empty/no-thing", "-p", "seed=7")
        assert [row["value"] for row in csv.DictReader(io.StringIO(out))] == ["7"]
        _, out, _ = lorelab("claims", "empty")
        assert [row["verdict"] for row in csv.DictReader(io.StringIO(out))] == ["holds"]
        assert lorelab("empty")[:2] == (0, "in\n")
        status, out, _ = lorelab("run", str(page), "-p", "seed=7", "-o", str(tmp_path / "x.ipynb"))
        assert status == 0
        [run] = [line for line in out.splitlines() if line.endswith(".ipynb")]
        outputs = nbformat.read(tmp_path / run, 4).cells[-1].outputs
        assert outputs[0]["data"]["text/plain"] == "7"
        status, _, err = lorelab("run", str(page), "-p", "seed=-1")
        assert status == 2 and "seed" in err


def test_a_panic_on_the_command_line(laboratory, copy, tmp_path):
    """`lorelab sweep --kernel` of a design more, whose guest panics at one of two points."""
    shutil.copytree(copy, tmp_path, dirs_exist_ok=True)
    write(tmp_path, PANICS)
    words = ["sweep", "empty/no-thing", "--kernel", "-p", "seed=2,3", "-o", str(tmp_path / "kept")]
    with doors(tmp_path, cache.root().parent) as lorelab:
        status, out, said = lorelab(*words)
        assert status == 1, said
        assert said.count("failed: {'seed': '3'}: the guest's kernel panicked") == 1
        assert said.splitlines()[-1] == "lorelab: 1 of 2 points failed; the others are kept"
        assert "Traceback" not in said
        table, page = (Path(line) for line in out.split())
        assert pd.read_parquet(table)[["seed", "value"]].to_numpy().tolist() == [[2, 2]]
        assert "the guest&#x27;s kernel panicked" in page.read_text()

        status, _, said = lorelab(*words)
        assert status == 1 and "1 of 2 points are finished already" in said

        mended = GUEST.replace('write("c")', 'write("h")')
        write(tmp_path, {"lib/kernel/empty/guest/points.py": mended})
        status, out, said = lorelab(*words)
        assert status == 0 and "points of another state are not taken over" in said
        assert pd.read_parquet(out.split()[0])["value"].tolist() == [2, 3]
