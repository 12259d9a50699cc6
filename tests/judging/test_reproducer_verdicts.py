"""Each verdict of reproducers whose kernels no test boots: from what a kernel may answer."""

import ctypes
import fcntl
import itertools
import math
import os
import pathlib
import re
import runpy
import select
import socket
import struct
import subprocess
import time
from types import SimpleNamespace

import pytest

from lorelab.gso.pages import views
from lorelab.judging import upstream

COPIED, AS_SENT = 1, 0
TAP = 1 << 20
"""A file descriptor that no process has."""


def nothing(*_, **__):
    return 0


def notification(code, low, high):
    return b"", [(0, 0, struct.pack("IBBBBII", 0, 5, 0, code, 0, low, high))], 0, None


class Socket:
    """Whose error queue has `queue`; what it sends comes in."""

    queue: list

    def __init__(self, *_, **__):
        self.setsockopt = self.bind = self.settimeout = self.sendto = nothing

    def recv(self, length):
        return bytes(length)

    def recvmsg(self, *_):
        return Socket.queue.pop(0)


@pytest.fixture
def told(monkeypatch, capsys):
    """Runs a reproducer in a world without namespaces: its last line, and how it ends."""
    for module, name in ((subprocess, "run"), (fcntl, "ioctl"), (os, "sched_setaffinity")):
        monkeypatch.setattr(module, name, nothing)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(unshare=nothing))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(socket, "socket", Socket)

    def run(kit):
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(upstream.reproducer(kit)))
        return capsys.readouterr().out.splitlines()[-1], ended.value.code

    return run


@pytest.mark.parametrize(
    ("before", "packets", "said"),
    [
        ([(COPIED, 0, 15)], 16, "PASS"),
        ([(COPIED, 0, 7), (COPIED, 8, 15)], 16, "PASS"),
        ([], 16, "FAIL"),
        ([(COPIED, 0, 14)], 16, "FAIL"),
        ([(AS_SENT, 0, 15)], 16, "FAIL"),
        ([(COPIED, 0, 7), (AS_SENT, 8, 15)], 16, "FAIL"),
        ([(COPIED, 0, 15)], 15, "can't tell"),
        ([(AS_SENT, 0, 15)], 0, "can't tell"),
    ],
)
def test_unread_macvtap_takes_that_all_lie_in_the_queue_and_are_copied_and_told(
    monkeypatch, told, before, packets, said
):
    Socket.queue = [notification(*one) for one in before]
    frames = [b"bridge's own"] + packets * [bytes(52) + bytes([7]) * 1000]
    really_open, really_read = os.open, os.read
    monkeypatch.setattr(
        os, "open", lambda path, *a, **k: TAP if "tap" in str(path) else really_open(path, *a, **k)
    )
    monkeypatch.setattr(
        os, "read", lambda fd, size: frames.pop() if fd == TAP else really_read(fd, size)
    )

    def ready(asked, *_):
        return [one for one in asked if (frames if one == TAP else Socket.queue)], [], []

    monkeypatch.setattr(select, "select", ready)
    last, status = told("gso/unread-macvtap")
    verdict = status if isinstance(status, str) else last
    assert verdict.startswith(said)
    assert isinstance(status, str) or status == (said == "FAIL")


@pytest.mark.parametrize(
    ("step", "lost", "said"),
    [(0.01, 0, "PASS"), (0.01, 1, "FAIL"), (0.1, 0, "can't tell"), (0.1, 1, "FAIL")],
)
def test_lost_copied_flag_can_not_tell_of_few_packets(monkeypatch, told, step, lost, said):
    """A send takes a `step` of the clock or two."""
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock) * step)
    monkeypatch.setattr(pathlib.Path, "write_text", nothing)
    monkeypatch.setattr(select, "poll", lambda: SimpleNamespace(register=nothing, poll=nothing))
    Socket.queue = [notification(COPIED, 0, 0)] * 9000
    if lost:
        Socket.queue[int(10 / step) + 50] = notification(AS_SENT, 0, 0)
    last, status = told("gso/lost-copied-flag")
    verdict = status if isinstance(status, str) else last
    assert verdict.startswith(said)
    assert isinstance(status, str) or status == (said == "FAIL")


def test_what_a_pass_takes_follows_from_the_recorded_rate():
    runs = views.lost_flags().query("kernel == '7.3.4' and copier == 1")
    [rate] = runs["not_told"] / runs["copies"]
    text = upstream.reproducer("gso/lost-copied-flag").read_text()
    least = int(re.search(r"^LEAST = (\d+) ", text, re.MULTILINE)[1])
    assert least == math.ceil(math.log(0.01) / math.log(1 - rate))
    for name in ("advice", "notes"):
        assert f"{least} packets" in upstream.text_of("gso/lost-copied-flag", name)
