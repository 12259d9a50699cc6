"""`lorelab run`: parameters are checked before any work; notebook and HTML, or nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lorelab.errors import BadInput, RunFailed
from lorelab.running import rerun

EMPTY = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
CELLS = [
    ("code", [], "import lorelab\nprint('work')"),
    (
        "code",
        ["parameters"],
        'seed: int = 1  # srand()\nvariant: str = "v6.12"\nlive: bool = False',
    ),
    ("code", [], 'params = lorelab.check("swap/allocator-test", seed=seed, variant=variant)'),
    ("code", [], "assert not live, 'no such thing'\nprint(params.seed, params.variant.name)"),
    ("markdown", [], "A formula: $x^2$"),
    ("markdown", [], "## In 6.12\n\nIt splits 92 %.\n\nSince 2024, on 6.12, by [it](a-7)."),
]


@pytest.fixture
def notebook(tmp_path):
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    cells = [make[kind](source, metadata={"tags": tags}) for kind, tags, source in CELLS]
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    file = tmp_path / "page.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), file)
    return file


def test_other_parameters_reach_the_notebook_and_its_page(notebook, tmp_path):
    out, page = rerun.run(notebook, {"seed": "7", "variant": "v3"}, tmp_path / "out/run.ipynb")
    said = "".join(
        output.text
        for cell in nbformat.read(out, as_version=4).cells
        for output in cell.get("outputs", [])
    )
    assert "7 V3" in said
    text = page.read_text()
    assert "7 V3" in text
    assert not any(f'src="{scheme}' in text for scheme in ("http", "//"))
    assert "MathJax" in text
    assert sorted(p.name for p in out.parent.iterdir()) == ["run.html", "run.ipynb"]


def test_a_run_with_other_values_begins_with_them_and_sets_numbers_of_the_text_back(
    notebook, tmp_path
):
    out, page = rerun.run(notebook, {"seed": "7", "variant": "v6.12"}, tmp_path / "run.ipynb")
    cells = nbformat.read(out, as_version=4).cells
    assert cells[0].source.startswith("**This page was run with `seed=7` (default `1`).**")
    assert "of-defaults" not in "".join(cell.source for cell in cells), "of the HTML alone"
    text = page.read_text()
    back = re.findall(r'<div class="of-defaults".*?</div>', text, re.DOTALL)
    assert [re.sub(r"<.*?>|\s+", " ", one).strip() for one in back] == ["It splits 92 %."]
    assert text.index("This page was run with") < text.index("It splits 92 %")


def test_a_run_with_the_defaults_is_the_page(notebook, tmp_path):
    out, page = rerun.run(notebook, {"seed": "1"}, tmp_path / "run.ipynb")
    assert "was run with" not in out.read_text() + page.read_text()
    assert "of-defaults" not in page.read_text()


@pytest.mark.parametrize("form", ["![a]({})", "[a]: {}\n\n![a]"])
def test_an_image_that_is_attached_is_in_the_page_and_one_that_was_lost_ends_nothing(form):
    """Lost as nbstripout, or a copy of the cell alone, leaves it."""
    source = form.format("attachment:a.png")
    cell = nbformat.v4.new_markdown_cell(source, attachments={"a.png": {"image/png": "aGVsbG8="}})
    assert "data:image/png;base64,aGVsbG8=" in rerun.html(new_notebook(cells=[cell]), "page")
    del cell["attachments"]
    assert 'src="a.png"' in rerun.html(new_notebook(cells=[cell]), "page")
    assert cell.source == source


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sed": "7"}, r"unknown parameter sed: .*page\.ipynb takes seed, variant, live"),
        ({"seed": "x"}, r"seed=x: takes int \(srand\(\)\)"),
        ({"seed": "-1"}, "seed=-1: takes a value greater than or equal to 0"),
        ({"variant": "v9"}, "variant=v9: takes one of v6.6"),
        ({"live": "maybe"}, "live=maybe: takes bool"),
    ],
)
def test_bad_parameters_stop_before_any_work(notebook, tmp_path, given, says, monkeypatch):
    monkeypatch.setattr(rerun, "_execute", lambda *_: pytest.fail("work was done"))
    with pytest.raises(BadInput, match=says):
        rerun.run(notebook, given, tmp_path / "out/run.ipynb")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["run", "run.html"])
def test_a_name_that_no_notebook_has_is_refused(notebook, tmp_path, name):
    with pytest.raises(BadInput, match=rf"-o .*/{name}: takes a name that ends in \.ipynb"):
        rerun.run(notebook, {}, tmp_path / "out" / name)
    assert not (tmp_path / "out").exists()


def test_no_kernel_of_the_users_gets_in_the_way(notebook, tmp_path, monkeypatch, capfd):
    theirs = tmp_path / "kernels/python3/kernel.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(json.dumps({"argv": ["false"], "language": "python", "display_name": "x"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    rerun.run(notebook, {}, tmp_path / "run.ipynb", bar=False)
    assert capfd.readouterr() == ("", "")


def test_a_kernel_that_just_answered_is_asked_to_end_and_not_interrupted(notebook, tmp_path):
    """nbclient asks it last what language it is of, and waits for the answer, not for its end."""
    note = tmp_path / "note"
    page = nbformat.read(notebook, as_version=4)
    page.cells.append(
        nbformat.v4.new_code_cell(f"""import time
from pathlib import Path
kernel, note = get_ipython().kernel, Path({str(note)!r})
def slow(restore=kernel.post_handler_hook):
    if kernel.get_parent("shell")["header"]["msg_type"] == "kernel_info_request":
        time.sleep(0.4)
        note.write_text("was let end")
    restore()
kernel.post_handler_hook = slow""")
    )
    nbformat.write(page, notebook)
    rerun.run(notebook, {}, tmp_path / "run.ipynb", bar=False)
    assert note.read_text() == "was let end"


def test_outputs_may_come_long_after_a_cell_and_never_is_told_as_what_it_is(
    notebook, tmp_path, monkeypatch
):
    """4 s were too short for a busy machine, and told as a file that can't be written."""
    page = nbformat.read(notebook, as_version=4)
    page.cells.append(
        nbformat.v4.new_code_cell("""import time
kernel = get_ipython().kernel
def slow(restore=kernel.post_handler_hook):
    time.sleep(5)
    restore()
kernel.post_handler_hook = slow""")
    )
    nbformat.write(page, notebook)
    rerun.run(notebook, {}, tmp_path / "run.ipynb", bar=False)
    monkeypatch.setattr(rerun, "OUTPUTS_WITHIN_S", 1)
    with pytest.raises(RunFailed, match=r"page\.ipynb: A cell timed out .* 1 seconds"):
        rerun.run(notebook, {}, tmp_path / "again.ipynb", bar=False)


def test_what_is_no_notebook_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"cannot read .*absent\.ipynb: No such file"):
        rerun.run(tmp_path / "absent.ipynb", {})
    (tmp_path / "text.ipynb").write_text("text")
    with pytest.raises(BadInput, match=r"text\.ipynb is not a notebook"):
        rerun.run(tmp_path / "text.ipynb", {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a notebook, or none that is read here: Notebook does not appear to be JSON"),
        ("[]", "is not a notebook, but JSON of another kind"),
        ("[" * 100_000, "is not a notebook, or none that is read here: "),
        (json.dumps(EMPTY | {"metadata": {"kernelspec": None}}), "none that is read here: None is"),
        (json.dumps(EMPTY | {"metadata": {"kernelspec": "python3"}}), "is not of type 'object'"),
        ('{"nbformat": 5, "nbformat_minor": 0}', "Unsupported nbformat version 5"),
        (
            nbformat.writes(new_notebook(metadata={"language_info": {"name": "R"}})),
            "is written in R; lorelab run takes Python alone",
        ),
    ],
)
def test_a_file_that_is_no_notebook_of_python_is_one_line(tmp_path, text, says):
    file = tmp_path / "mine.ipynb"
    file.write_text(text)
    with pytest.raises(BadInput, match=says) as complaint:
        rerun.described(file)
    assert "\n" not in str(complaint.value)


@pytest.mark.parametrize(
    ("name", "shown", "python"),
    [
        ("ir", "R", False),
        ("conda-env-mm-r", "R [conda env:mm]", False),
        ("julia-1.10", "Julia 1.10.0", False),
        ("deno", "Deno", False),
        ("jupyter-octave", "Octave", False),
        ("conda-env-mm-py", "mm", True),
        ("mine", "Python (mine)", True),
        ("xpython", "Python 3.13 (XPython)", True),
        ("pysparkkernel", "PySpark", True),
        ("pypy3", "PyPy", True),
    ],
)
def test_a_kernel_that_says_no_language_is_one_of_python_or_refused(tmp_path, name, shown, python):
    file = tmp_path / "mine.ipynb"
    kernel = {"name": name, "display_name": shown}
    nbformat.write(new_notebook(metadata={"kernelspec": kernel}), file)
    if python:
        assert rerun.described(file).empty
        return
    with pytest.raises(BadInput, match=f"is of the kernel {name}, whose language") as complaint:
        rerun.described(file)
    assert "\n" not in str(complaint.value)


def test_lines_of_ipython_hide_no_parameter(tmp_path):
    source = "%matplotlib inline\nseed: int = 1  # a number\nodd = {[]: 1}\n!ls 'x"
    cell = new_code_cell(source, metadata={"tags": ["parameters"]})
    file = tmp_path / "mine.ipynb"
    nbformat.write(new_notebook(cells=[cell]), file)
    table = rerun.described(file)
    assert table[["parameter", "type", "default", "meaning"]].to_numpy().tolist() == [
        ["seed", "int", "1", "a number"],
        ["odd", "", "", ""],
    ]


def test_a_failing_cell_leaves_nothing(notebook, tmp_path):
    with pytest.raises(RunFailed, match=r"page\.ipynb, code cell \[\d\]: AssertionError: no such"):
        rerun.run(notebook, {"live": "true"}, tmp_path / "out/run.ipynb")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("os.kill(os.getpid(), 9)", "was killed by SIGKILL, as it is where memory ends"),
        ("os.kill(os.getpid(), 11)", "was killed by SIGSEGV"),
        ("os._exit(3)", "ended with exit status 3"),
    ],
)
def test_a_kernel_that_dies_leaves_nothing(notebook, tmp_path, how, says):
    page = nbformat.read(notebook, as_version=4)
    page.cells.append(nbformat.v4.new_code_cell(f"import os\n{how}"))
    nbformat.write(page, notebook)
    with pytest.raises(RunFailed, match=rf"page\.ipynb: its kernel {says}$"):
        rerun.run(notebook, {}, tmp_path / "out/run.ipynb")
    assert list((tmp_path / "out").iterdir()) == []


def test_the_door_exits_with_2_and_one_line(notebook):
    command = [Path(sys.executable).with_name("lorelab"), "run", notebook, "-p", "seed=x"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lorelab: seed=x: takes int (srand())\n"


KERNELS = {
    "none": {},
    "no language": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "conda": {
        "kernelspec": {
            "name": "conda-env-mm-py",
            "display_name": "Python [conda env:mm]",
            "language": "python",
        }
    },
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_readers_notebook_runs_on_this_python(tmp_path, kernel, caplog):
    cells = [
        new_code_cell(
            'label: str = "a=b"  # text # of a kind\nseed = 1  # a number\nwhere = len("abc")\n'
            "pair: int = (\n    5\n)  # of many\n",
            metadata={"tags": ["parameters"]},
        ),
        new_code_cell("print(label, seed + 1, where)"),
    ]
    file = tmp_path / "mine.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=KERNELS[kernel]), file)
    table = rerun.described(file).set_index("parameter")
    assert table[["type", "default", "meaning"]].to_numpy().tolist() == [
        ["str", "a=b", "text # of a kind"],
        ["int", "1", "a number"],
        ["", "", ""],
        ["int", "5", "of many"],
    ]
    done, page = rerun.run(file, {"seed": "4", "label": "c=d=e"}, tmp_path / "out.ipynb", bar=False)
    assert nbformat.read(done, 4).cells[-1].outputs[0].text == "c=d=e 5 3\n"
    assert page.exists()
    assert caplog.text == "", "papermill can't parse a default with =, and sets the value"
    with pytest.raises(BadInput, match="where: annotated not at all"):
        rerun.run(file, {"where": "4"})


def test_no_profile_or_start_up_file_of_the_users_changes_a_run(notebook, tmp_path, monkeypatch):
    startup = tmp_path / "ipython/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("import sys; sys.spied = 'profile'\n")
    (startup.parent / "ipython_config.py").write_text(
        "c.InteractiveShell.ast_node_interactivity = 'all'\n"
    )
    (tmp_path / "start.py").write_text("import sys; sys.spied = 'PYTHONSTARTUP'\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "start.py"))
    cell = new_code_cell("import sys\n1\nprint(getattr(sys, 'spied', 'nobody'))")
    file = tmp_path / "mine.ipynb"
    nbformat.write(new_notebook(cells=[cell]), file)
    done, _ = rerun.run(file, {}, tmp_path / "out.ipynb", bar=False)
    [output] = nbformat.read(done, 4).cells[-1].outputs
    assert output.text == "nobody\n"
    assert not list(startup.parent.glob("*.sqlite"))


def test_nbval_gives_its_kernels_no_profile_of_the_users_either():
    """They have what this process has (tests/conftest.py)."""
    assert Path(os.environ["IPYTHONDIR"]).name.startswith("lorelab-ipython-")
    assert os.environ["PYTHONSTARTUP"] == ""
