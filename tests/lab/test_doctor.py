"""`lorelab doctor` where commands are not there, and for a user who is not root."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from lorelab.errors import BadInput
from lorelab.lab import commands, needs, obstacles, recipes

SECONDS = 300


class Named(NamedTuple):
    """A row of /etc/group."""

    gr_name: str


def doctor(path, home, user=None, columns=200):
    """Run it with PATH and HOME of its own, in a process of its own."""
    words = [Path(sys.executable).with_name("lorelab"), "doctor"]
    environment = {"PATH": str(path), "HOME": str(home), "COLUMNS": str(columns)}
    return subprocess.run(
        words, capture_output=True, text=True, env=environment, timeout=SECONDS, user=user
    )


def here(said):
    """What the table says of each thing that is needed."""
    rows = [line.split("│")[1:3] for line in said.splitlines() if line.startswith("│")]
    return {name.strip(): word.strip() for name, word in rows}


@pytest.fixture
def without(tmp_path):
    """A folder with links to all commands that are needed and here, but some."""

    def without(*names):
        folder = tmp_path / "bin"
        folder.mkdir()
        for need in needs.ALL:
            found = needs._which(need.what)
            if found and not need.what.startswith("/") and need.what not in names:
                (folder / need.what).symlink_to(found)
        return folder

    return without


@pytest.mark.parametrize(
    ("command", "package"), [("qemu-system-x86_64", "qemu-system-x86"), ("gcc", "gcc")]
)
def test_without_one_command(without, tmp_path, command, package):
    done = doctor(without(command), tmp_path)
    assert here(done.stdout)[command] == "no"
    *_, last = done.stderr.splitlines()
    assert done.returncode == 1
    assert last.startswith("lorelab: as root: apt-get install --no-install-recommends")
    assert package in last.split()


def test_with_nothing_on_the_path(tmp_path):
    done = doctor(tmp_path, tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    said = here(done.stdout)
    outside = {need.what for need in needs.ALL if not need.what.startswith("/")}
    lacking = {name for name in outside if not Path("/usr/sbin", name).exists()}
    assert {said[name] for name in lacking if name in said} == {"no"}


def test_no_name_is_cut_on_a_terminal_of_80_columns(tmp_path):
    said = doctor(tmp_path, tmp_path, columns=80).stdout
    assert "…" not in said
    needed = said.partition("why can't I")[0].splitlines()
    rows = [line.split("│")[1:-1] for line in needed if line.startswith("│")]
    named, _, packages, _ = (
        "".join(cell.strip() for cell in cells) for cells in zip(*rows, strict=True)
    )
    assert named == "".join(need.what for need in needs.ALL)
    assert packages == "".join(need.package for need in needs.ALL)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_is_told_the_same(tmp_path):
    """Without a home to write to, and with no right to the machine's devices."""
    try:
        done = doctor("/usr/bin:/bin", "/nonexistent", user=65534)
    except PermissionError:
        pytest.skip("the environment of these tests is root's alone")
    if done.returncode == 126 or "can't open file" in done.stderr:
        pytest.skip("the environment of these tests is root's alone")
    assert "Traceback" not in done.stderr, done.stderr
    said = here(done.stdout)
    for need in needs.BUILD + needs.BOOT:
        assert said[need.what] == ("yes" if need.here() else "no")


@pytest.mark.parametrize(
    ("system", "says"),
    [
        ('NAME="Fedora Linux"\nID=fedora\n', "dnf provides"),
        ("ID=ubuntu\nID_LIKE=debian\n", "apt-get has the packages"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt-get has the packages"),
        ("ID=raspbian\nID_LIKE=debian\n", "apt-get has the packages"),
        ("ID='mine'\nID_LIKE='fedora debian'\n", "apt-get has the packages"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf provides"),
        ("ID=arch\n", "the package manager here knows"),
    ],
)
def test_systems_without_debians_packages_are_told_how_to_get_the_source(system, says):
    told = needs.elsewhere(system)
    assert says in told and "linux-source-6.12" in told and "/usr/src" in told
    assert "\n" not in told


def test_debian_needs_no_more_words():
    assert needs.elsewhere("ID=debian\n") == ""


@pytest.mark.parametrize(
    ("tools", "says"),
    [(["apt-get"], "apt-get has"), (["dnf"], "dnf provides"), ([], "the package manager here")],
)
def test_a_system_without_a_name_is_known_by_its_tools(tmp_path, monkeypatch, tools, says):
    monkeypatch.setattr(needs, "OS_RELEASE", (tmp_path / "none", tmp_path / "lib"))
    monkeypatch.setattr(needs, "_which", lambda name: name if name in tools else None)
    assert needs.system() == ""
    assert says in needs.elsewhere("")
    (tmp_path / "lib").write_bytes(b"ID=fedora\nNAME=\xe9\n")
    assert "this is fedora" in needs.elsewhere(needs.system())


@pytest.mark.parametrize(
    ("system", "command"),
    [
        ("ID=debian\n", "as root: apt-get install --no-install-recommends gcc linux-source-6.12"),
        ("ID=ubuntu\n", "as root: apt-get install --no-install-recommends gcc"),
        ("ID=fedora\n", "as root: dnf install what this names: dnf provides '*bin/gcc'"),
        ("ID=arch\n", "as root: install what has gcc"),
    ],
)
def test_every_command_of_the_doctor_is_for_this_system(monkeypatch, system, command):
    """Not apt-get on Fedora: in the table, in the last line, and where a build refuses."""
    source = needs.Need(str(needs.SOURCE), "linux-source-6.12", "the kernel's source")
    lacks = [source, needs.Need("gcc", "gcc", "building")]
    monkeypatch.setattr(needs, "system", lambda: system)
    monkeypatch.setattr(needs, "missing", lambda _: lacks)
    assert needs.command(lacks, system) == command
    with pytest.raises(BadInput, match=re.escape(f"not found; {command}") + "$"):
        needs.check(lacks)
    told = [one.command for one in obstacles.obstacles() if "not found" in one.because]
    assert set(told) == {command}
    done = CliRunner().invoke(commands.doctor)
    assert str(done.exception) == command
    if "debian" not in system:
        assert "apt-get install" not in needs.command([source], system)


def test_why_cant_i_is_answered_with_a_reason_and_a_command(tmp_path):
    said = doctor(tmp_path, tmp_path, columns=400).stdout.partition("why can't I ...")[2]
    rows = [[c.strip() for c in line.split("│")[1:4]] for line in said.splitlines() if "│" in line]
    told = {to: (because, command) for to, because, command in rows}
    for to in ("build kernels and guest", "run an experiment on a kernel"):
        because, command = told[to]
        assert "not found" in because
        assert command.startswith("as root: apt-get install --no-install-recommends ")
    assert all(because and command for because, command in told.values())


def test_the_source_of_a_system_without_dpkg_has_no_package(monkeypatch, tmp_path):
    """On Fedora dpkg-query is not there; on Ubuntu it is, and knows no such package."""
    assert recipes._version("no-such-package-of-lorelab") == recipes.UNPACKAGED
    monkeypatch.setenv("PATH", str(tmp_path))
    assert recipes._version("linux-source-6.12") == recipes.UNPACKAGED


@pytest.mark.parametrize(
    ("cpuinfo", "command"),
    [
        ("flags\t\t: fpu vmx sse\n", "as root: modprobe kvm_intel"),
        ("flags\t\t: fpu svm sse\n", "as root: modprobe kvm_amd"),
        ("flags\t\t: fpu sse\n", "nested"),
    ],
)
def test_a_kvm_that_is_not_there(cpuinfo, command):
    assert command in obstacles.no_kvm(cpuinfo)[1]


@pytest.mark.parametrize(
    ("mode", "command"),
    [(0o660, "usermod --append --groups"), (0o600, "chmod a+rw")],
)
def test_a_kvm_that_is_closed_is_opened_by_its_group(tmp_path, monkeypatch, mode, command):
    device = tmp_path / "kvm"
    device.touch()
    device.chmod(mode)
    monkeypatch.setattr(obstacles.grp, "getgrgid", lambda gid: Named("kvm"))
    because, told = obstacles.closed(device)
    assert str(device) in because and command in told


@pytest.mark.parametrize(
    ("table", "has"),
    [
        ("", False),
        ("ann:100000:65536\n", True),
        ("1000:100000:65536\n", True),
        ("ann:100000:1000\n", False),
        ("anna:100000:65536\n", False),
        ("ann\n::\n", False),
    ],
)
def test_ids_of_a_user_who_builds_the_guest(table, has):
    assert obstacles.has_ids(table, "ann", 1000) == has
