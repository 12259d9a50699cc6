"""A disk is written and read through the page cache of a guest with several zones.

Runs follow one another in one boot, each from an empty cache. What the allocator's walks did comes
from the switches' folder (lorelab/fairzone), what the disk moved from the disk.
"""

import base64
import re
import subprocess
import zlib
from pathlib import Path

from switches import FOLDER, mount, turned

HERE = Path(__file__).parent
DISK = "vda"
EVENT_BYTES = 32
PIECE = 200_000
"""Characters of a frame's piece of the events."""
VMSTAT = ("pgsteal_kswapd", "pgsteal_direct", "pgscan_kswapd", "pgscan_direct", "pageoutrun",
          "workingset_refault_file", "workingset_activate_file", "kswapd_low_wmark_hit_quickly",
          "kswapd_high_wmark_hit_quickly", "allocstall_normal", "allocstall_movable",
          "pgactivate", "pgdeactivate")  # fmt: skip


def run(params):
    """Yield one row a run of `params["runs"]`, and before it the pieces of its events.

    A run has `switches`, `min_free_kib`, and `phases`: each a `name` and what it does, `writes` or
    `reads` as `[first, pages]` or `drops`; with `events` its walks are logged.
    """
    mount()
    if not (FOLDER / "fairzone").exists():
        raise NotImplementedError("lorelab/fairzone; it takes lib/kernel/fairzone/patches")
    settings({"vm/watermark_boost_factor": 0, "vm/swappiness": 0})
    program = [HERE / "stream", f"/dev/{DISK}"]
    for number, wanted in enumerate(params["runs"]):
        settings({"vm/min_free_kbytes": wanted["min_free_kib"]})
        with subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        ) as stream:
            settings({"vm/drop_caches": 3})
            yield from one(number, wanted, stream)
            stream.stdin.close()


def one(number, wanted, stream):
    """One run: a row for each phase."""
    base = {"fairzone/log": "counters", **wanted["switches"]}
    with turned(base):
        start()
        for phase in wanted["phases"]:
            logs = phase.get("events", False)
            if logs:
                # In this order, so that the log has every walk since batches were full.
                log("events")
                start()
            before, zones = totals(), zoneinfo()
            begun = (FOLDER / "fairzone" / "counters").read_text()
            act(phase, stream)
            log("counters")
            after = totals()
            if logs:
                yield from events(number, phase["name"])
            yield {
                "run": number,
                "phase": phase["name"],
                "begun": begun,
                "zoneinfo": zones,
                "changed": {name: after[name] - before[name] for name in after},
            }


def act(phase, stream):
    """What a phase does."""
    if phase.get("drops"):
        settings({"vm/drop_caches": 3})
    for word in ("write", "read"):
        if f"{word}s" in phase:
            first, pages = phase[f"{word}s"]
            ask(stream, f"{word} {first} {pages}")


def ask(stream, command):
    """One command to the program; its answer."""
    print(command, file=stream.stdin)
    answer = stream.stdout.readline().strip()
    if not answer:
        raise RuntimeError(f"stream ended in: {command}")
    return answer


def log(choice):
    """Turn the switch of the log."""
    (FOLDER / "fairzone" / "log").write_text(choice)


def start():
    """Counters at 0, batches full, no events."""
    (FOLDER / "fairzone" / "counters").write_text("start")


def events(number, phase):
    """The log of a phase, in pieces."""
    said = (FOLDER / "fairzone" / "counters").read_text()
    logged = int(re.search(r"^events (\d+)$", said, re.MULTILINE)[1])
    with open(FOLDER / "fairzone" / "events", "rb") as file:
        packed = zlib.compress(file.read(logged * EVENT_BYTES), 9)
    text = base64.b64encode(packed).decode()
    for at in range(0, len(text), PIECE):
        yield {"run": number, "phase": phase, "logged": logged, "piece": text[at : at + PIECE]}


def settings(values):
    """Write sysctls by path."""
    for name, value in values.items():
        (Path("/proc/sys") / name).write_text(str(value))


def totals():
    """Every counter by name: of walks, of zones, of the kernel, of the disk."""
    found = {}
    for line in (FOLDER / "fairzone" / "counters").read_text().splitlines():
        words = line.split()
        if words[0] == "zone":
            found[f"allocated_{words[1]}_{words[2].lower()}"] = int(words[-1])
        elif words[0] != "events":
            found[words[0]] = int(words[1])
    vmstat = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    found |= {name: int(vmstat[name]) for name in VMSTAT if name in vmstat}
    stat = Path(f"/sys/block/{DISK}/stat").read_text().split()
    found |= {"disk_read": int(stat[2]) // 8, "disk_written": int(stat[6]) // 8}
    return found


def zoneinfo():
    """free, min, low, high, managed and protection of each populated zone."""
    found = []
    for part in re.split(r"^Node ", Path("/proc/zoneinfo").read_text(), flags=re.MULTILINE)[1:]:
        node, name = re.match(r"(\d+), zone +(\w+)", part).groups()
        numbers = dict(re.findall(r"^ +(?:pages )?(free|min|low|high|managed) +(\d+)", part, re.M))
        if int(numbers["managed"]):
            protection = re.search(r"protection: \(([\d, ]+)\)", part)[1]
            found.append(
                {"node": int(node), "zone": name}
                | {key: int(value) for key, value in numbers.items()}
                | {"protection": [int(word) for word in protection.split(",")]}
            )
    return found
