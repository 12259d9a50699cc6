"""The patch series: it applies to Debian's source as it is, and reads as the kernel asks for."""

import re
import subprocess

import pytest

from lorelab.lab import needs
from lorelab.lab.cache import KERNEL_FILES

SERIES = sorted((KERNEL_FILES / "patches").glob("*.patch"))
CHECKPATCH = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
README = (KERNEL_FILES / "patches" / "README.md").read_text()
SWITCH = re.compile(
    r'^\+DEFINE_LORELAB_SWITCH(?:_OF\(&\w+, |\()"(\w+)", (\w+),(.*?)\);$', re.MULTILINE | re.DOTALL
)


def touched():
    """Files that the series changes and does not make."""
    text = "".join(patch.read_text() for patch in SERIES)
    return sorted(set(re.findall(r"^--- a/(\S+)", text, re.MULTILINE)) - made())


def made():
    text = "".join(patch.read_text() for patch in SERIES)
    return set(re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)", text, re.MULTILINE))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The files of the archive that the tests look at."""
    if not needs.SOURCE.exists():
        pytest.skip("no kernel source here: `lorelab doctor` names the package")
    folder = tmp_path_factory.mktemp("linux")
    wanted = [*touched(), *(f"scripts/{name}" for name in CHECKPATCH)]
    top = needs.SOURCE.name.removesuffix(".tar.xz")
    unpack = ["tar", "-xf", str(needs.SOURCE), "-C", str(folder), "--strip-components=1"]
    subprocess.run([*unpack, *(f"{top}/{name}" for name in wanted)], check=True)
    return folder


def test_numbered_without_a_gap():
    assert [int(patch.name[:4]) for patch in SERIES] == list(range(1, len(SERIES) + 1))


def test_applies_in_order(source):
    for patch in SERIES:
        apply = ["patch", "-p1", "--forward", "--batch", "--fuzz=0", f"--input={patch}"]
        done = subprocess.run(apply, cwd=source, capture_output=True, text=True)
        assert done.returncode == 0, f"{patch.name}: {done.stdout}"
        assert "offset" not in done.stdout, f"{patch.name}: {done.stdout}"


@pytest.mark.parametrize("patch", SERIES, ids=lambda patch: patch.name[:4])
def test_checkpatch(source, patch):
    check = ["perl", str(source / "scripts" / "checkpatch.pl"), "--strict", "--no-tree"]
    done = subprocess.run([*check, str(patch)], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "total: 0 errors, 0 warnings, 0 checks" in done.stdout


@pytest.mark.parametrize("patch", SERIES, ids=lambda patch: patch.name[:4])
def test_signed_off(patch):
    text = patch.read_text()
    assert re.search(r"^Signed-off-by: \S.* <\S+@\S+>$", text, re.MULTILINE)


def test_the_readme_lists_every_switch_with_its_choices():
    """The kernel's own behaviour comes first in both."""
    found = {}
    for patch in SERIES:
        for folder, name, rest in SWITCH.findall(patch.read_text()):
            strings = re.findall(r'"([^"]*)"', rest)
            found[f"{folder}/{name}"] = strings[1:]
    assert len(found) >= 8
    listed = dict(re.findall(r"^\| `(\S+)` \| ([^|]*) \|", README, re.MULTILINE))
    assert {name: choices.split(", ") for name, choices in listed.items()} == found
