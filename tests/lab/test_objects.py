"""Each patch compiles: one object of it, in a prepared tree of the source that it is made for.

Both trees are kept in the cache; without them this takes minutes.
"""

import os
import re
import shutil
import subprocess

import pytest

from lorelab.judging import upstream
from lorelab.judging.findings import findings
from lorelab.lab import cache, needs, recipes
from lorelab.lab.source import is_cover, is_selftest, is_stable
from tests import lacking

FOUND = {one.title: one for one in findings()}
PATCHES = {
    f"{title}/{file.name[:4]}": file
    for title in FOUND
    for file in upstream.patches(title)
    if not is_cover(file)
}
CHANGED = re.compile(r"^--- a/(\S+)", re.MULTILINE)
MADE = re.compile(r"^--- /dev/null\n\+\+\+ b/(\S+)", re.MULTILINE)
WRITTEN = re.compile(r"^\+\+\+ b/(\S+\.c)$", re.MULTILINE)
INCLUDES = {"mm/damon/tests/core-kunit.h": "mm/damon/core.c"}
"""Of a patch that changes no file of C: one that includes what it changes."""


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def make(folder, *targets):
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    run("make", f"O={folder / 'objects'}", f"CC={compiler}", jobs, *targets, cwd=folder / "source")


def prepare(folder, archive, patches):
    """Unpack and configure a source, and build what each object takes."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("source", "objects", "whole"):
        (folder / name).mkdir(parents=True)
    run("tar", "-xf", archive, "--strip-components=1", cwd=folder / "source")
    make(folder, "tinyconfig")
    options = {}
    for one in FOUND.values():
        if any(name.startswith(f"{one.title}/") for name in patches):
            for file in recipes.fragments(one.design, one.config):
                found = recipes.settings(file)
                options |= {name: value for name, value in found.items() if value != "n"}
    options |= recipes.settings(upstream.COMMON / "kernel.config")
    with (folder / "objects" / ".config").open("a") as config:
        config.writelines(f"{name}={value}\n" for name, value in options.items())
    make(folder, "olddefconfig")
    make(folder, "prepare")
    (folder / "prepared").touch()


@pytest.fixture(params=upstream.SOURCES)
def patched(request):
    """A prepared tree with all patches of its source, and these; without them afterwards."""
    archive = needs.SOURCE.with_name(f"{upstream.SOURCES[request.param][0]}.tar.xz")
    patches = {name: file for name, file in PATCHES.items() if is_stable(file) == request.param}
    if absent := needs.missing(needs.BUILD):
        lacking(f"no {absent[0].what}")
    if not archive.exists():
        pytest.skip(f"{archive} is not here")
    folder = cache.root() / "kernel" / "prepared" / archive.name
    folder.mkdir(parents=True, exist_ok=True)
    with cache.locked(folder.with_suffix(".lock")):
        if not (folder / "prepared").exists():
            prepare(folder, archive, patches)
        restore(folder)
        for name in {
            name for file in patches.values() for name in CHANGED.findall(file.read_text())
        }:
            (folder / "whole" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / "source" / name, folder / "whole" / name)
        for file in patches.values():
            run("patch", "-p1", "--batch", "--fuzz=0", f"--input={file}", cwd=folder / "source")
        yield folder, patches
        restore(folder)


def restore(folder):
    """Put the files back that patches have changed, also by a run that was killed."""
    shutil.copytree(folder / "whole", folder / "source", dirs_exist_ok=True)
    for file in PATCHES.values():
        for name in MADE.findall(file.read_text()):
            (folder / "source" / name).unlink(missing_ok=True)


def test_each_patch_compiles(patched):
    folder, patches = patched
    targets = {}
    for name, file in patches.items():
        changed = CHANGED.findall(file.read_text())
        if is_selftest(file):
            check = ("gcc", "-Wall", "-Werror", "-fsyntax-only", "-I", "tools/testing/selftests")
            run(*check, *WRITTEN.findall(file.read_text()), cwd=folder / "source")
            continue
        written = [one for one in (*changed, *map(INCLUDES.get, changed)) if one]
        targets[name] = next(one for one in written if one.endswith(".c"))[:-1] + "o"
    for target in set(targets.values()):
        (folder / "objects" / target).unlink(missing_ok=True)
    make(folder, *sorted(set(targets.values())))
    assert all((folder / "objects" / target).exists() for target in targets.values())
