"""The reset of old numbers for 6.12: it applies to the plain source, and nothing of ours has it."""

import re
import subprocess

import pytest

from lorelab.lab import needs
from lorelab.lab.cache import KERNEL_FILES
from lorelab.vmalock.model.litmus import MARKED, WMB, Machine, Test, allowed, load, store

[PATCH] = (KERNEL_FILES / "vmalock" / "upstream" / "taken-for-marked").glob("0001-*.patch")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    if not needs.SOURCE.exists():
        pytest.skip("no kernel source here: `lorelab doctor` names the package")
    folder = tmp_path_factory.mktemp("linux")
    top = needs.SOURCE.name.removesuffix(".tar.xz")
    files = re.findall(r"^--- a/(\S+)", PATCH.read_text(), re.MULTILINE)
    tar = ["tar", "-xf", str(needs.SOURCE), "-C", str(folder), "--strip-components=1"]
    subprocess.run([*tar, *(f"{top}/{name}" for name in files)], check=True)
    return folder


def test_it_is_what_the_kernel_was_built_with_that_shows_that_it_helps():
    [built] = (KERNEL_FILES / "vmalock" / "configs" / "reset").glob("*.patch")
    assert built.read_bytes() == PATCH.read_bytes()


def test_it_applies_without_fuzz(source):
    apply = ["patch", "-p1", "--forward", "--batch", "--fuzz=0", "--dry-run", f"--input={PATCH}"]
    done = subprocess.run(apply, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_no_number_that_a_writer_can_have_is_left_where_vmas_begin(source):
    """UINT_MAX is odd, and the last writer's of a round."""
    text = PATCH.read_text()
    begins = (source / "kernel/fork.c").read_text().count("vm_lock_seq = ")
    assert begins == text.count("+	vma->vm_lock_seq = VMA_LOCK_SEQ_NONE;") == 1


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize("acquire", [True, False])
def test_a_fault_that_finds_the_reset_finds_what_came_before_it(release, acquire):
    """Else it takes the VMA for unlocked, and reads what was before the writer's store."""
    writer = (store("data", 1), WMB, store("mm_seq", 2), store("vm_seq", 2, release=release))
    fault = (load("vm_seq", 0, acquire=acquire), load("mm_seq", 1, acquire=True), load("data", 2))
    no_overflow, old_data = {(1, 0): 2, (1, 1): 1}, {(1, 0): 2, (1, 2): 0}
    missed, stale = (
        [
            machine
            for machine in Machine
            if allowed(Test("", (writer, fault), seen, MARKED), machine)[0]
        ]
        for seen in (no_overflow, old_data)
    )
    assert (Machine.WEAK in missed) == (not (release and acquire))
    assert (Machine.WEAK in stale) == (not acquire)
    assert Machine.TSO not in missed + stale
    added = [line[1:].strip() for line in PATCH.read_text().splitlines() if line[:1] == "+"]
    assert "smp_store_release(&vma->vm_lock_seq, VMA_LOCK_SEQ_NONE);" in added
    assert "vm_lock_seq = smp_load_acquire(&vma->vm_lock_seq);" in added
