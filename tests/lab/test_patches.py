"""The patch series: it applies to Debian's source as it is, and reads as the kernel asks for."""

import re
import shutil
import subprocess

import pytest

from lorelab.judging.upstream import mail
from lorelab.lab import cache, needs, recipes
from lorelab.lab.cache import KERNEL_FILES
from lorelab.lab.source import is_cover, is_selftest, is_stable
from tests import lacking

SERIES = {
    design: cache.files(design, "patches/*.patch")
    for design in cache.designs()
    if (KERNEL_FILES / design / "patches").exists()
}
KITS = sorted((KERNEL_FILES).glob("*/upstream/*"))
"""For the maintainers: they change the plain source, and no kernel of ours has them."""
UPSTREAM = sorted(patch for kit in KITS for patch in kit.glob("*.patch") if not is_cover(patch))
NEWEST = needs.SOURCE.with_name("linux-source-7.3.tar.xz")
"""What patches for upstream are made for (trixie-backports has it)."""
CONFIGS = sorted({patch.parent for patch in KERNEL_FILES.glob("*/configs/*/*.patch")})
"""Of kernels with a config, and patches on top of the series, of their own."""
PATCHES = [
    *sorted(KERNEL_FILES.glob("*/patches/*.patch")),
    *(patch for folder in CONFIGS for patch in sorted(folder.glob("*.patch"))),
    *UPSTREAM,
]
CHECKPATCH = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
SWITCH = re.compile(
    r'^\+DEFINE_LORELAB_SWITCH(?:_OF\(&\w+, |\()"(\w+)", (\w+),(.*?)\);$', re.MULTILINE | re.DOTALL
)


def touched():
    """Files that the series changes and does not make."""
    text = "".join(patch.read_text() for patch in PATCHES)
    return sorted(set(re.findall(r"^--- a/(\S+)", text, re.MULTILINE)) - made())


def made():
    text = "".join(patch.read_text() for patch in PATCHES)
    return set(re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)", text, re.MULTILINE))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The files of the archive that the tests look at."""
    if not needs.SOURCE.exists():
        lacking("no kernel source here: `lorelab doctor` names the package")
    folder = tmp_path_factory.mktemp("linux")
    unpack(needs.SOURCE, folder, [*touched(), *(f"scripts/{name}" for name in CHECKPATCH)])
    return folder


def unpack(archive, folder, wanted):
    top = archive.name.removesuffix(".tar.xz")
    tar = ["tar", "-xf", str(archive), "-C", str(folder), "--strip-components=1"]
    subprocess.run([*tar, *(f"{top}/{name}" for name in wanted)], check=True)


def named(patch):
    return "/".join([*patch.parts[-3:-1], patch.name[:4]])


@pytest.mark.parametrize(
    "folder", sorted({patch.parent for patch in PATCHES}), ids=lambda f: "/".join(f.parts[-2:])
)
def test_numbered_without_a_gap(folder):
    numbers = [int(patch.name[:4]) for patch in sorted(folder.glob("*.patch"))]
    if len(numbers) > 1 and folder in KITS:
        assert numbers.pop(0) == 0, "a cover letter"
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    "patches",
    [*SERIES.values(), *(recipes.patches(one.parts[-3], one.name) for one in CONFIGS)],
    ids=[*SERIES, *(one.name for one in CONFIGS)],
)
def test_applies_in_order(source, patches, tmp_path):
    shutil.copytree(source, tmp_path, dirs_exist_ok=True)
    for patch in patches:
        apply = ["patch", "-p1", "--forward", "--batch", "--fuzz=0", f"--input={patch}"]
        done = subprocess.run(apply, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{patch.name}: {done.stdout}"
        # One that a kit sends, too, is for the plain source.
        assert patch.is_symlink() or "offset" not in done.stdout, f"{patch.name}: {done.stdout}"


@pytest.fixture(scope="module")
def newest(tmp_path_factory):
    """The files of the newest source that patches for upstream change."""
    if not NEWEST.exists():
        pytest.skip(f"{NEWEST} is not here: package linux-source-7.3 of trixie-backports")
    folder = tmp_path_factory.mktemp("newest")
    text = "".join(patch.read_text() for patch in UPSTREAM if not is_stable(patch))
    unpack(NEWEST, folder, sorted(set(re.findall(r"^--- a/(\S+)", text, re.MULTILINE))))
    return folder


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: f"{kit.parts[-3]}/{kit.name}")
def test_a_kit_applies_in_order(request, kit, tmp_path):
    mails = sorted(kit.glob("000[1-9]*.patch"))
    on = request.getfixturevalue("source" if is_stable(mails[-1]) else "newest")
    shutil.copytree(on, tmp_path, dirs_exist_ok=True)
    for patch in mails:
        apply = ["patch", "-p1", "--forward", "--batch", "--fuzz=0", f"--input={patch}"]
        done = subprocess.run(apply, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("patch", PATCHES, ids=named)
def test_checkpatch(source, patch):
    text = mail(patch)
    check = ["perl", str(source / "scripts" / "checkpatch.pl"), "--strict", "--no-tree"]
    # The archive has no history to look commits up in; "commit SHA upstream.", which the stable
    # trees ask for, is not how checkpatch wants a commit named.
    stable = ["GIT_COMMIT_ID"] if re.search(r"^commit \w{40} upstream\.$", text, re.M) else []
    # A new selftest: MAINTAINERS has its folder already, which checkpatch does not look up.
    new = ["FILE_PATH_CHANGES"] if patch in UPSTREAM and is_selftest(patch) else []
    check += ["--ignore", ",".join(["UNKNOWN_COMMIT_ID", *stable, *new])]
    done = subprocess.run([*check, "-"], cwd=source, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "total: 0 errors, 0 warnings, 0 checks" in done.stdout


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: f"{kit.parts[-3]}/{kit.name}")
def test_lines_of_a_cover_letter(kit):
    """checkpatch does not read it."""
    for cover in kit.glob("0000*.patch"):
        words = cover.read_text().partition("\n---\n")[0].partition("\n\n")[2]
        assert [line for line in words.splitlines() if len(line) > 72] == []


@pytest.mark.parametrize("patch", PATCHES, ids=named)
def test_signed_off(patch):
    text = mail(patch)
    assert re.search(r"^Signed-off-by: \S.* <\S+@\S+>$", text, re.MULTILINE)


@pytest.mark.parametrize("design", SERIES)
def test_the_readme_lists_every_switch_with_its_choices(design):
    """The kernel's own behaviour comes first in both."""
    found = {}
    for patch in SERIES[design]:
        for folder, name, rest in SWITCH.findall(patch.read_text()):
            strings = re.findall(r'"([^"]*)"', rest)
            found[f"{folder}/{name}"] = strings[1:]
    if design == "swap":
        assert len(found) >= 8
    readme = (KERNEL_FILES / design / "patches" / "README.md").read_text()
    listed = dict(re.findall(r"^\| `(\S+)` \| ([^|]*) \|", readme, re.MULTILINE))
    assert {name: choices.split(", ") for name, choices in listed.items()} == found
