"""Runs faulters.c under probes, and reads them and the kernel's own counters at one moment."""

import subprocess
from pathlib import Path

import probe
from switches import mount, turned
from threads import counts

HERE = Path(__file__).parent
TRIES = 100


def run(params):
    """Yield what the kernel and `params["probes"]` counted during each of `params["runs"]`.

    A run has `mode`, `faulters`, `mappers`, `rounds`, `pages` and `switches`. A row has the
    kernel's `counts` and, as probe.py frames them, what the `probes` counted.
    """
    mount()
    for number, one in enumerate(params["runs"]):
        with turned(one["switches"] | {"vmalock/count": "on"}):
            attached = probe.attach(params["probes"])
            kernel, found = moment(attached, params["still"])
            words = [one[name] for name in ("mode", "faulters", "mappers", "rounds", "pages")]
            subprocess.run([HERE / "faulters", "threads", *map(str, words), "-"], check=True)
            kernel_after, found_after = moment(attached, params["still"])
        for each in attached:
            each.stop()
        yield {
            "run": number,
            "counts": {name: kernel_after[name] - kernel[name] for name in kernel_after},
            "probes": [
                {
                    "probe": each.name,
                    "counters": grown(found[each.name], found_after[each.name]),
                    "lost": each.bpf["lost"][0].value + each.missed,
                }
                for each in attached
            ],
        }


def moment(attached, still):
    """The kernel's counters and the probes', those of probe `still` between two looks alike.

    Counters only grow: one that is the same before and after was that all the while. So the
    kernel's counters and that probe's are of one moment, though other programs of the guest, this
    one among them, fault now and then.
    """
    [watched] = (each for each in attached if each.name == still)
    for _ in range(TRIES):
        before = counted(watched)
        kernel = counts()
        if before == counted(watched):
            rest = {each.name: counted(each) for each in attached if each is not watched}
            return kernel, rest | {still: before}
    raise RuntimeError(f"{still} counted something at each of {TRIES} looks")


def counted(each):
    """What a probe has counted since it was attached: value by name, step and unit."""
    return {
        (name, step, unit): value
        for table, (kind, unit) in each.outputs.items()
        for name, step, value in each.counted(table, kind)
    }


def grown(before, after):
    """Counters as probe.py frames them, without what they had before."""
    rows = [[*key, value - before.get(key, 0)] for key, value in after.items()]
    return [row for row in rows if row[-1]]
