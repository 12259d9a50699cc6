"""The reset of old numbers for 6.12: it applies to the plain source, and nothing of ours has it."""

import re
import subprocess

import pytest

from lorelab.lab import needs
from lorelab.lab.cache import KERNEL_FILES
from lorelab.vmalock.model.litmus import load, store
from lorelab.vmalock.model.litmus_tests import MARKED, TESTS
from tests import lacking

[PATCH] = (KERNEL_FILES / "vmalock" / "upstream" / "taken-for-marked").glob("0001-*.patch")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    if not needs.SOURCE.exists():
        lacking("no kernel source here: `lorelab doctor` names the package")
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


def test_the_litmus_tests_of_the_reset_have_its_release_and_its_acquire():
    """L8 of the model: with both a fault that finds the reset finds the wrap."""
    added = [line[1:].strip() for line in PATCH.read_text().splitlines() if line[:1] == "+"]
    resets, finds = TESTS["L8"].threads
    last, *_ = MARKED.values()
    assert resets[-1] == store("vm_seq", last - 1, release=True)
    assert "#define VMA_LOCK_SEQ_NONE\t(UINT_MAX - 1)" in added
    assert resets[-2] == store("mm_seq", last + 1), "the reset's number and the wrap's differ"
    assert "smp_store_release(&vma->vm_lock_seq, VMA_LOCK_SEQ_NONE);" in added
    assert finds[0] == load("vm_seq", 0, acquire=True)
    assert "vm_lock_seq = smp_load_acquire(&vma->vm_lock_seq);" in added
