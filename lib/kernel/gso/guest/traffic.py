"""Zero-copy sends over a link whose device segments in software, and what became of them, counted.

A link: `dummy` swallows what it is sent; `wire` is two emulated e1000 cards on one hub, the second
in a namespace of its own; `veth` hands packets over on a receive path.
"""

import os
import re
import socket
import subprocess
import time
from pathlib import Path

from histograms import TRACING, histogram, mount, trigger
from switches import turned

HERE = Path(__file__).parent
FAR = "far"
ADDRESS, OTHER, PORT = "192.0.2.1", "192.0.2.2", "4791"
QUIET_MS = "1500"
"""A reader has had all once nothing came for so long."""
EVENTS = {
    # name: (function, what is fetched, key of the histogram)
    "segmentations": ("skb_segment", "", "common_cpu"),
    "clones": ("skb_clone", "", "common_cpu"),
    "copies": ("skb_copy_ubufs", " bytes=skb->data_len:u32", "bytes"),
    "completions": ("msg_zerocopy_complete", " success=success:u8", "success"),
    "holds": ("skb_zerocopy_clone", "", "common_cpu"),
}


def sh(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def run(params):
    """Yield what became of each of `params["runs"]`.

    A run has `switches`, `link`, `protocol`, `sends`, `length`, `segment`, `buffers`, `zerocopy`,
    `qdisc` (words of tc, or none), `tap` (a packet socket that listens) and `sleep_ms` of the
    reader.
    """
    attach()
    links = None
    for number, wanted in enumerate(params["runs"]):
        if links != wanted["link"]:
            down(links)
            up(wanted["link"])
            links = wanted["link"]
        with turned(wanted["switches"]):
            yield {"run": number, **one(wanted)}
            time.sleep(0.2)


def attach():
    """Count calls with histograms of kprobes; what the compiler inlined is left out."""
    mount()
    symbols = re.findall(
        r"^\S+ [tT] (\S+)(?:\t\[\w+\])?$", Path("/proc/kallsyms").read_text(), re.MULTILINE
    )
    events = os.open(TRACING / "kprobe_events", os.O_WRONLY | os.O_APPEND)
    for name, (function, fetched, key) in EVENTS.items():
        if function not in symbols:
            continue
        os.write(events, f"p:gso/{name} {function}{fetched}\n".encode())
        trigger(f"gso/{name}", f"hist:keys={key}")
    os.close(events)


def counted():
    """Calls so far: by name, and of those with a key by its value."""
    found = {}
    for name in EVENTS:
        if not (TRACING / "events/gso" / name).exists():
            continue
        rows = histogram(f"gso/{name}")
        found[name] = sum(rows.values())
        if name == "copies":
            found["copied_bytes"] = sum(value * hits for (value,), hits in rows.items())
        if name == "completions":
            found["completions_copied"] = rows.get((0,), 0)
    return found


def up(link):
    # Its router solicitations would be packets too.
    sh("sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1", check=False)
    sh("ip", "link", "set", "lo", "up")
    sh("sysctl", "-q", "-w", "net.core.optmem_max=4000000", "net.core.wmem_max=16777216")
    if link == "dummy":
        near = "dummy0"
        sh("ip", "link", "add", near, "type", "dummy", check=False)
    elif link == "veth":
        near = "veth0"
        sh("ip", "netns", "add", FAR)
        sh("ip", "link", "add", near, "type", "veth", "peer", "name", "veth1", "netns", FAR)
        far("veth1")
    else:
        near, other = cards()
        sh("ip", "netns", "add", FAR)
        sh("ip", "link", "set", other, "netns", FAR)
        far(other)
    sh("ip", "addr", "add", f"{ADDRESS}/24", "dev", near)
    sh("ip", "link", "set", near, "mtu", "1500", "up")
    for feature in ("tx-udp-segmentation", "tso", "tx-gso-list"):
        sh("ethtool", "-K", near, feature, "off", check=False)
    if link != "dummy":
        sh("ethtool", "-K", near, "tx", "on", "sg", "on", check=False)
        if link == "wire":
            time.sleep(3)  # the cards' autonegotiation
        introduce(near)


def cards():
    """Names of the two cards, in the order of their slots."""
    found = [p.name for p in Path("/sys/class/net").iterdir() if (p / "device/driver").exists()]
    e1000 = [n for n in found if "e1000" in os.readlink(f"/sys/class/net/{n}/device/driver")]
    if len(e1000) < 2:
        raise NotImplementedError("two e1000 cards (CONFIG_E1000)")
    return sorted(e1000, key=lambda n: os.readlink(f"/sys/class/net/{n}/device"))[:2]


def far(name):
    ns = ("ip", "-n", FAR)
    off = "net.ipv6.conf.all.disable_ipv6=1"
    sh("ip", "netns", "exec", FAR, "sysctl", "-q", "-w", off, check=False)
    sh(*ns, "link", "set", "lo", "up")
    sh(*ns, "addr", "add", f"{OTHER}/24", "dev", name)
    sh(*ns, "link", "set", name, "mtu", "1500", "up")
    # What comes in stays as it came.
    sh("ip", "netns", "exec", FAR, "ethtool", "-K", name, "gro", "off", check=False)


def introduce(near):
    """Neighbours that know each other, so that no packet waits for one."""
    macs = {}
    for ns, address in (((), ADDRESS), (("-n", FAR), OTHER)):
        text = sh("ip", *ns, "-o", "link")
        macs[address] = re.findall(r"\d+: (\S+?)[@:].*link/ether (\S+)", text)
    theirs = macs[OTHER][-1]
    ours = next(mac for name, mac in macs[ADDRESS] if name == near)
    sh("ip", "neigh", "replace", OTHER, "lladdr", theirs[1], "dev", near, "nud", "permanent")
    sh(
        "ip", "-n", FAR, "neigh", "replace", ADDRESS, "lladdr", ours, "dev", theirs[0],
        "nud", "permanent",
    )  # fmt: skip


def down(link):
    if link is None:
        return
    sh("ip", "netns", "del", FAR, check=False)
    time.sleep(1)
    for name in ("dummy0", "veth0"):
        sh("ip", "link", "del", name, check=False)
    for name in os.listdir("/sys/class/net"):
        sh("ip", "addr", "flush", "dev", name, check=False)


def near(link):
    return {"dummy": "dummy0", "veth": "veth0"}.get(link) or wire()


def wire():
    """The card that stayed here."""
    return next(
        name
        for name in os.listdir("/sys/class/net")
        if os.path.exists(f"/sys/class/net/{name}/device/driver")
        and "e1000" in os.readlink(f"/sys/class/net/{name}/device/driver")
    )


def sent(device):
    return int(Path(f"/sys/class/net/{device}/statistics/tx_packets").read_text())


def one(wanted):
    """One run: totals of the sender, the reader, the device and the kernel's functions."""
    device = near(wanted["link"])
    sh("tc", "qdisc", "del", "dev", device, "root", check=False)
    for words in wanted["qdisc"]:
        sh("tc", "qdisc", "add", "dev", device, *words.split())
    reader = tap = None
    if wanted["link"] != "dummy":
        command = ["ip", "netns", "exec", FAR, HERE / "zeroread", wanted["protocol"], PORT]
        command += [QUIET_MS, *([str(wanted["sleep_ms"])] if wanted["sleep_ms"] else [])]
        reader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        reader.stdout.readline()
    if wanted["tap"]:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        tap.bind((device, 3))
    before, packets, begun = counted(), sent(device), time.monotonic_ns()
    words = ("sends", "length", "segment", "buffers", "zerocopy")
    said = sh(
        HERE / "zerosend", wanted["protocol"], OTHER, PORT, *(str(int(wanted[w])) for w in words)
    )
    took = time.monotonic_ns() - begun
    if tap:
        tap.close()
    told, copied, pending, failed = (int(word) for word in said.split())
    found = {"told": told, "copied": copied, "pending": pending, "failed": failed}
    if reader:
        seen = reader.communicate()[0].split()
        found |= dict(zip(("read", "read_bytes", "wrong"), map(int, seen), strict=True))
    found |= {"ns": took, "sent": sent(device) - packets}
    after = counted()
    return found | {name: after[name] - before.get(name, 0) for name in after}
