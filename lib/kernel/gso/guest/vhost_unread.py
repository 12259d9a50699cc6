"""Packets of a guest over vhost-net and a bridge to another tap, which nobody reads, counted."""

import fcntl
import os
import struct
import subprocess
import time

import traffic
import vhost
from switches import turned
from traffic import HERE, sh
from unread import IFF_NO_PI, IFF_TAP, IFF_VNET_HDR, TUN_F_CSUM, TUNSETIFF, TUNSETOFFLOAD
from vhost import BRIDGE, TAP

OTHER, MAC = "tap1", "52:54:00:00:00:02"
GONE_S = 10
"""A sender that has said its last is gone by then, if vhost does not wait for a packet."""


def run(params):
    """Yield what became of each of `params["runs"]`: their `switches` and what vhostsend takes."""
    traffic.EVENTS = vhost.EVENTS
    traffic.attach()
    quiet = [f"net.ipv6.conf.{which}.disable_ipv6=1" for which in ("all", "default")]
    sh("sysctl", "-q", "-w", *quiet, check=False)
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    wanted = struct.pack("16sH22x", OTHER.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
    fcntl.ioctl(tap, TUNSETIFF, wanted)
    # It takes no packet that is to be segmented, as the card does not.
    fcntl.ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM)
    sh("ip", "link", "add", BRIDGE, "type", "bridge")
    sh("ip", "link", "set", OTHER, "master", BRIDGE)
    for name in (OTHER, BRIDGE):
        sh("ip", "link", "set", name, "up")
    sh("bridge", "fdb", "replace", MAC, "dev", OTHER, "master", "static")
    for number, wanted in enumerate(params["runs"]):
        with turned(wanted["switches"]):
            yield {"run": number, **one(wanted)}


def one(wanted):
    """One run: totals of the sender and the kernel's functions, and whether vhost keeps it."""
    words = ("protocol", "sends", "length", "segment", "buffers")
    sender = subprocess.Popen(
        [HERE / "vhostsend", TAP, *(str(wanted[word]) for word in words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    sender.stdout.readline()
    sh("ip", "link", "set", TAP, "master", BRIDGE)
    sh("ip", "link", "set", TAP, "up")
    time.sleep(0.5)
    before = traffic.counted()
    sender.stdin.write("\n")
    sender.stdin.flush()
    told, pending, took = (int(word) for word in sender.stdout.readline().split())
    try:
        sender.wait(GONE_S)
        waiting = 0
    except subprocess.TimeoutExpired:
        waiting = 1
    found = {"told": told, "pending": pending, "ns": took, "waiting": waiting}
    after = traffic.counted()
    return found | {name: after[name] - before.get(name, 0) for name in after}
