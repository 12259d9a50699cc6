"""A build that is killed on its way: what it started is waited for, or ends with it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lorelab.errors import BadInput
from lorelab.lab import cache, guest

SECONDS = 300
FOLLOWS = """
import sys
from pathlib import Path
from lorelab.lab import cache
from lorelab.lab.processes import run_logged
there = Path(sys.argv[1])
with cache.locked(there):
    bakes = f"touch {there}/begun; sleep 2; touch {there}/done"
    run_logged("baking", ["sh", "-c", bakes], there / "log")
"""
BUILDS = """
import sys
from lorelab.lab import guest
guest.COMMAND = ("sh", "-c", sys.argv[1])
guest.needs.check = guest.cache.need_room = lambda *_: None
guest.build_root()
"""
MOUNTS = "mkdir -p $0/proc; mount -t proc proc $0/proc; touch {begun}; sleep 1000"
WORKS = "mkdir -p $0/var/lib/dpkg; printf 'Package: a\\nVersion: 1\\n' > $0/var/lib/dpkg/status"


def killed(begun: Path, *words: object, **options: object) -> None:
    """Start a program, and kill it without more ado once `begun` is there."""
    one = subprocess.Popen([sys.executable, "-c", *words], **options)
    until = time.monotonic() + SECONDS
    while not begun.exists():
        assert time.monotonic() < until and one.poll() is None
        time.sleep(0.05)
    os.kill(one.pid, signal.SIGKILL)
    one.wait()


def test_a_folder_is_held_until_its_last_command_has_ended(tmp_path):
    """Else who comes next would begin anew where the killed build's compiler still writes."""
    killed(tmp_path / "begun", FOLLOWS, tmp_path)
    assert not (tmp_path / "done").exists()
    with cache.locked(tmp_path):
        assert (tmp_path / "done").exists()


def test_what_was_mounted_for_a_guest_goes_with_its_build(tmp_path, monkeypatch):
    """mmdebstrap mounts /proc and /sys in the guest's folder, which then can't be removed."""
    if guest._alone() != guest.ALONE:
        pytest.skip("this user may make no namespaces")
    there = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    begun = tmp_path / "begun"
    killed(begun, BUILDS, MOUNTS.format(begun=begun), env=there)
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(guest.needs, "check", lambda *_: None)
    monkeypatch.setattr(guest, "COMMAND", ("sh", "-c", MOUNTS.format(begun=begun)))
    folder = guest._folder()  # as the killed one had it
    monkeypatch.setattr(guest, "_folder", lambda: folder)
    monkeypatch.setattr(guest, "COMMAND", ("sh", "-c", WORKS))
    assert guest.build_root().info.packages == {"a": "1"}
    assert {path.name for path in folder.iterdir()} == {".lock", "build.log", "guest.json", "root"}


def test_a_guest_that_root_did_not_make_rests_on_no_owner(tmp_path, monkeypatch):
    """mount would be set to its file's owner's ID, and what is for no other to read copied nowhere.

    mmdebstrap stands here for its helper, which runs a command among users of a namespace.
    """
    helper = tmp_path / "bin/mmdebstrap"
    helper.parent.mkdir()
    helper.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{helper.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(guest.needs, "check", lambda *_: None)
    made = "; mkdir -m 700 $0/root; touch $0/mount; chmod 4700 $0/mount"
    monkeypatch.setattr(guest, "COMMAND", ("sh", "-c", WORKS + made))
    monkeypatch.setattr(guest.os, "geteuid", lambda: 0)
    as_it_was = guest._folder()
    monkeypatch.setattr(guest.os, "geteuid", lambda: 1000)
    assert guest._folder() != as_it_was, "one that was made so does not boot, and is not taken"
    root = guest.build_root().root
    modes = {name: (root / name).stat().st_mode & 0o7777 for name in ("root", "mount")}
    assert modes == {"root": 0o755, "mount": 0o755}


def test_a_file_where_a_folder_is_needed_is_one_line(tmp_path):
    (tmp_path / "build").touch()
    for folder in (tmp_path / "build", tmp_path / "build/below/it"):
        refused = pytest.raises(BadInput, match="build is a file, and a folder is needed there")
        with refused, cache.locked(folder):
            pass
