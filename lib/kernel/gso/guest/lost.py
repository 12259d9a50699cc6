"""Packets that one CPU sends and another copies, and what their sender is told.

A bridge sends each packet to a veth and to `dummy0`, and it is segmented for each of the two. The
veth's peer has its segments on CPU 1, where the receive path copies them; `dummy0` frees its own on
CPU 0, where the sender runs, as sent.
"""

import contextlib
import os
import re
import select
import socket
import subprocess
import time
from pathlib import Path

import told
import traffic
from switches import mount
from traffic import ADDRESS, FAR, OTHER, PORT, sh

BRIDGE = "br0"
SOL_UDP, UDP_SEGMENT = 17, 103
SENDERS = 8
"""Sockets: CPU 1 is still busy with one packet as CPU 0 sends the next, or it would begin after it.
Each has one packet under way, for what it is told of several it is told in one."""
LATEST_MS = 5000
KCSAN = Path("/sys/kernel/debug/kcsan")
SAID = re.compile(r"\] ((?:WARNING|BUG|Oops|INFO): .*)")
READER = "import socket; s = socket.socket(type=2); s.bind(('', {})); print(flush=True); input()"
"""Its buffer is soon full, but nobody is told that there is no such port."""


def run(params):
    """Yield what became of each of `params["runs"]`: `rounds` of a packet a socket.

    A row has how many packets the sender was told of, the segments that the receive path had, and
    of how many packets the sender was told that they were not copied: with the veth (`lost`), and
    before it was there (`lent`). And the kernel's `complaints`, each with how often it came.
    """
    # Complaints are this job's result; on the console they would be its failure.
    Path("/proc/sys/kernel/printk").write_text("1")
    mount()
    if os.cpu_count() < 2:
        raise NotImplementedError("two CPUs")
    os.sched_setaffinity(0, {0})
    reader = up()
    for number, wanted in enumerate(params["runs"]):
        sh("ip", "link", "set", "veth0", "nomaster")
        lent = sum(not copied for copied in sent(wanted))
        sh("ip", "link", "set", "veth0", "master", BRIDGE)
        time.sleep(1)
        subprocess.run(["dmesg", "--clear"], check=True)
        before, packets = arrived(), traffic.sent("dummy0")
        watch("on")
        said = sent(wanted)
        watch("off")
        yield {
            "run": number,
            "told": len(said),
            "lost": sum(not copied for copied in said),
            "lent": lent,
            "arrived": arrived() - before,
            "sent": traffic.sent("dummy0") - packets,
            "complaints": complaints(),
        }
    reader.kill()


def up():
    """Lay the bridge; the program that has the port's socket."""
    traffic.up("veth")
    sh("ip", "addr", "flush", "dev", "veth0")
    for name in ("dummy0", "dummy1"):
        sh("ip", "link", "add", name, "type", "dummy", check=False)
    sh("ip", "link", "add", BRIDGE, "type", "bridge")
    sh("ip", "addr", "add", f"{ADDRESS}/24", "dev", BRIDGE)
    for name in ("dummy0", "dummy1"):
        sh("ip", "link", "set", name, "master", BRIDGE)
    for name in ("dummy0", "dummy1", BRIDGE):
        sh("ip", "link", "set", name, "up")
    # The bridge takes whole packets because one of its ports, dummy1, does.
    for name in ("dummy0", "veth0"):
        sh("ethtool", "-K", name, "tx-udp-segmentation", "off")
    # A bridge sends that to all its ports, whatever it has learnt.
    every = "ff:ff:ff:ff:ff:ff"
    sh("ip", "neigh", "replace", OTHER, "lladdr", every, "dev", BRIDGE, "nud", "permanent")
    far = ("ip", "netns", "exec", FAR)
    sh(*far, "sh", "-c", "echo 2 >/sys/class/net/veth1/queues/rx-0/rps_cpus")
    command = [*far, "python3", "-c", READER.format(PORT)]
    reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    reader.stdout.readline()
    return reader


def sent(wanted):
    """Send in rounds of a packet each; of each whether the sender was told that it was copied."""
    said = []
    with contextlib.ExitStack() as stack:
        senders = [
            stack.enter_context(socket.socket(type=socket.SOCK_DGRAM)) for _ in range(SENDERS)
        ]
        for sender in senders:
            sender.setsockopt(socket.SOL_SOCKET, told.SO_ZEROCOPY, 1)
            sender.setsockopt(SOL_UDP, UDP_SEGMENT, wanted["segment"])
        payload = bytearray(wanted["segments"] * wanted["segment"])
        for _ in range(wanted["rounds"]):
            for sender in senders:
                sender.sendto(payload, told.MSG_ZEROCOPY, (OTHER, int(PORT)))
            for sender in senders:
                ready = select.poll()
                ready.register(sender, 0)  # POLLERR alone
                ready.poll(LATEST_MS)
                said += [copied for _, _, copied in told.heard(sender)]
    return said


def arrived():
    """Packets that the veth's peer has had."""
    path = "/sys/class/net/veth1/statistics/rx_packets"
    return int(sh("ip", "netns", "exec", FAR, "cat", path))


def watch(state):
    """Let KCSAN look or not, where there is one: at the run, and nothing else of the kernel."""
    if KCSAN.exists():
        KCSAN.write_text(state)


def complaints():
    found = {}
    for words in SAID.findall(sh("dmesg")):
        words = re.sub(r"CPU: \d+ PID: \d+ at |\+0x\w+/0x\w+", "", words)
        found[words] = found.get(words, 0) + 1
    return found
