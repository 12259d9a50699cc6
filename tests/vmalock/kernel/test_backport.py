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
    files += ["mm/mmap.c", "mm/vma.c", "fs/exec.c"]
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


def test_every_vma_is_write_locked_before_a_fault_can_find_it(source):
    """So that the even first number is a precaution: who makes a VMA, and what locks it."""
    makers = {
        "mm/mmap.c": 3,  # mmap_region(), do_brk_flags(); a special mapping, by insert_vm_struct()
        "mm/vma.c": 2,  # __split_vma(); copy_vma(), by vma_link()
        "fs/exec.c": 1,  # the stack, by insert_vm_struct(), which calls vma_link()
        "kernel/fork.c": 1,  # dup_mmap()
    }
    call = re.compile(r" = vm_area_(?:alloc|dup)\(")
    texts = {name: (source / name).read_text() for name in makers}
    assert {name: len(call.findall(text)) for name, text in texts.items()} == makers
    for before in (
        "\tvma_start_write(vma);\n\tvma_iter_store(&vmi, vma);",
        "\tvma_start_write(vma);\n\tif (vma_iter_store_gfp(vmi, vma, GFP_KERNEL))",
    ):
        assert before in texts["mm/mmap.c"]
    for before in (
        "\tvma_start_write(new);",
        "\tvma_start_write(vma);\n\tvma_iter_store(&vmi, vma);",
    ):
        assert before in texts["mm/vma.c"]
    fork = texts["kernel/fork.c"]
    locked = fork.index("vm_flags_clear(tmp, VM_LOCKED_MASK);")
    assert locked < fork.index("vma_iter_bulk_store(&vmi, tmp);")
    clears = (source / "include/linux/mm.h").read_text().split("static inline void vm_flags_clear(")
    assert "vma_start_write(vma);" in clears[1].split("}")[0]


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
