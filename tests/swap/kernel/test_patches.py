"""The kernel with switches: all of them there, and none of them felt until it is turned."""

import re

from lorelab.experiments import experiment
from lorelab.lab import boot
from lorelab.lab.cache import KERNEL_FILES
from lorelab.lab.run import RunOptions
from lorelab.swap.params import AllocatorTest

README = (KERNEL_FILES / "swap" / "patches" / "README.md").read_text()
TURN = """
import subprocess
from pathlib import Path

FOLDER = Path("/sys/kernel/debug/lorelab")


def write(file, text):
    try:
        file.write_text(text)
        return "done"
    except OSError as error:
        return error.strerror


def run(params):
    if not FOLDER.exists():
        subprocess.run(["mount", "-t", "debugfs", "debugfs", FOLDER.parent], check=True)
    yield {"switches": (FOLDER / "switches").read_text()}
    mode = FOLDER / "swap" / "alloc_mode"
    yield {"wrong word": write(mode, "v6.9")}
    Path("/sys/block/zram0/disksize").write_text("16M")
    subprocess.run(["mkswap", "/dev/zram0"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["swapon", "/dev/zram0"], check=True)
    yield {"in use": write(mode, "v3"), "then": mode.read_text()}
    yield {"lists": (FOLDER / "swap" / "lists").read_text()}
    subprocess.run(["swapoff", "/dev/zram0"], check=True)
    yield {"free": write(mode, "v3"), "then": mode.read_text()}
    yield {"back": write(mode, "upstream"), "then": mode.read_text()}
"""


def test_switches_are_what_the_readme_says_and_turn_when_they_may(laboratory, patched, tmp_path):
    (tmp_path / "turn.py").write_text(TURN)
    job = boot.Job(None, "turn", {}, 120)
    machine = boot.Machine(memory_mib=512)
    root = laboratory.guest.root
    rows = boot.run(patched("swap").image, root, tmp_path, machine, job, quiet=True).rows
    listed, wrong, in_use, lists, free, back = rows
    found = {}
    for line in listed["switches"].splitlines():
        name, choices, meaning = line.split("\t")
        assert re.match(r"\[[^]]+\]", choices), "it stands at the kernel's own behaviour"
        found[name] = re.sub(r"[][]", "", choices).replace(" ", ", ")
        assert meaning
    assert found == dict(re.findall(r"^\| `(\S+)` \| ([^|]*) \|", README, re.MULTILINE))
    assert wrong == {"wrong word": "Invalid argument"}
    untouched = "[upstream] v6.10 v3 nonfull-first\n"
    assert in_use == {"in use": "Device or resource busy", "then": untouched}
    assert free == {"free": "done", "then": "upstream v6.10 [v3] nonfull-first\n"}
    assert back == {"back": "done", "then": untouched}
    # 16 MiB: 8 clusters, one of them with the header.
    lengths = [line.split() for line in lists["lists"].splitlines()]
    assert {(name, order): int(nr) for _, name, order, nr in lengths if nr != "0"} == {
        ("free", "0"): 7,
        ("nonfull", "0"): 1,
    }


def test_untouched_it_does_what_the_unmodified_kernel_does(patched):
    """Equal, with no margin: nothing that is counted depends on the host's speed."""
    found = experiment("swap/allocator-test")
    params = AllocatorTest(options="-s", large_swapin=False)
    # Of the recorded runs that a switch changes, each is another by the second iteration.
    some = params.model_copy(update={"iterations": 20})
    [live] = found.measure([some], RunOptions(patched("swap").image))
    kept = found.recorded(params).counters
    kept = kept[kept["step"] <= 20].reset_index(drop=True)
    assert live.counters.equals(kept) and len(kept) == 40
