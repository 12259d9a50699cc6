"""Switches in the guest: turned together and back, and one that is missing is named before."""

import runpy
from pathlib import Path

import pytest

from lorelab.errors import BadInput
from lorelab.lab import boot
from lorelab.lab.cache import KERNEL_FILES

HELPER = KERNEL_FILES / "common" / "guest" / "switches.py"
STATES = {"swap/steal": "[on] off\n", "swap/alloc_mode": "upstream [v3]\n"}


@pytest.fixture
def switches(tmp_path, monkeypatch):
    """The helper, and a folder that stands for debugfs."""
    helper = runpy.run_path(str(HELPER))
    monkeypatch.setitem(helper["turned"].__wrapped__.__globals__, "FOLDER", tmp_path)
    monkeypatch.setitem(helper["turned"].__wrapped__.__globals__, "mount", lambda: None)
    for name, state in STATES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(state)
    return helper["turned"], lambda name: (tmp_path / name).read_text()


def test_they_are_turned_and_go_back_to_the_kernels_own(switches):
    turned, state = switches
    with turned({"swap/alloc_mode": "v6.10 v3"}):
        assert state("swap/alloc_mode") == "v6.10 v3"
        assert state("swap/steal") == STATES["swap/steal"]
    # Of what reading shows, the first choice is the kernel's own.
    assert state("swap/alloc_mode") == "v6.10"


def test_where_one_is_missing_none_is_turned(switches):
    turned, state = switches
    with (
        pytest.raises(
            NotImplementedError, match=r"^the switch damon/flush; it takes lib/kernel/da"
        ),
        turned({"swap/steal": "off", "damon/flush": "on"}),
    ):
        pass
    assert state("swap/steal") == STATES["swap/steal"]


def test_a_kernel_without_it_ends_the_run_with_one_line(laboratory, tmp_path):
    """Bad input, status 2; of a switch of another design it is the line that is tested above."""
    name = "swap/steal"
    program = "from switches import turned\ndef run(params):\n    with turned(params): yield {}\n"
    (tmp_path / "turns.py").write_text(program)
    job, machine = boot.Job(None, "turns", {name: "off"}, 60), boot.Machine(memory_mib=512)
    root = laboratory.guest.root
    with pytest.raises(BadInput) as refused:
        boot.run(laboratory.kernel.image, root, Path(tmp_path), machine, job, quiet=True)
    release = laboratory.kernel.info.release
    said = f"kernel {release} lacks the switch swap/steal; it takes lib/kernel/swap/patches"
    assert str(refused.value) == said


def test_no_program_turns_them_by_itself():
    files = sorted(KERNEL_FILES.glob("*/guest/*.py"))
    turning = [file for file in files if "kernel/debug/lorelab" in file.read_text()]
    assert len(files) > 30 and turning == [HELPER]
