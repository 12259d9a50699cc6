"""Packets of a guest over vhost-net, a tap and a bridge to a card without segmentation, counted."""

import subprocess
import time
from pathlib import Path

import traffic
from switches import turned
from traffic import FAR, HERE, PORT, sh

TAP, BRIDGE = "tap0", "br0"
EVENTS = {
    "segmentations": ("skb_segment", "", "common_cpu"),
    "copies": ("skb_copy_ubufs", " bytes=skb->data_len:u32", "bytes"),
    "completions": ("vhost_zerocopy_complete", " success=success:u8", "success"),
}


def run(params):
    """Yield what became of each of `params["runs"]`.

    A run has `switches`, `link` (`wire` or `dummy`, see traffic.py), `protocol`, `sends`, `length`,
    `segment`, `buffers`, and `qdisc` of the card. The kernel was booted with the `zcopytx` of all.
    """
    zerocopy = Path("/sys/module/vhost_net/parameters/experimental_zcopytx")
    if not zerocopy.exists() or zerocopy.read_text().strip() != params["zcopytx"]:
        raise NotImplementedError(f"vhost_net.experimental_zcopytx={params['zcopytx']}")
    traffic.EVENTS = EVENTS
    if not params["bare"]:
        traffic.attach()
    link = None
    for number, wanted in enumerate(params["runs"]):
        if link != wanted["link"]:
            link = wanted["link"]
            traffic.up(link)
            device = traffic.near(link)
            sh("ip", "addr", "flush", "dev", device)
            sh("ip", "link", "add", BRIDGE, "type", "bridge")
            sh("ip", "link", "set", device, "master", BRIDGE)
            sh("ip", "link", "set", BRIDGE, "up")
        with turned(wanted["switches"]):
            yield {"run": number, **one(wanted, device)}
            time.sleep(0.2)


def one(wanted, device):
    """One run: totals of the sender, the reader and the kernel's functions."""
    sh("tc", "qdisc", "del", "dev", device, "root", check=False)
    for words in wanted["qdisc"]:
        sh("tc", "qdisc", "add", "dev", device, *words.split())
    reader = None
    if wanted["link"] != "dummy" and wanted["protocol"] == "udp":
        command = ["ip", "netns", "exec", FAR, HERE / "zeroread", "udp", PORT, "4000"]
        reader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        reader.stdout.readline()
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
    # Past the bridge's listening and learning: no spanning tree, so a moment is enough.
    time.sleep(0.5)
    before, packets = traffic.counted(), traffic.sent(device)
    said, _ = sender.communicate("\n")
    told, pending, took = (int(word) for word in said.split())
    found = {"told": told, "pending": pending}
    if reader:
        seen = reader.communicate()[0].split()
        found |= dict(zip(("read", "read_bytes", "wrong"), map(int, seen), strict=True))
    found |= {"ns": took, "sent": traffic.sent(device) - packets}
    after = traffic.counted()
    return found | {name: after[name] - before.get(name, 0) for name in after}
