"""What a packet of `gso/traffic` costs in numba, C and plain Python; what every order takes."""

import ctypes
import time
from types import SimpleNamespace

import numpy as np
from rich.progress import track
from rich.table import Table

from bench import compiled
from lorelab.checker import explore
from lorelab.errors import RunFailed
from lorelab.gso.experiments.lifetimes import MODEL, first, setting
from lorelab.gso.experiments.traffic import setting as traffic_setting
from lorelab.gso.model import traffic
from lorelab.gso.params import Lifetimes, Traffic, Variant

REPEATS = 5
SENDS, PYTHON_SENDS = 250_000, 500
"""Of 40 segments each: ten million packets."""
BAR_C, BAR_PYTHON, BAR_SECONDS = 0.8, 100, 10
LOADS = {
    "bulk": {},
    "loss and reorder": {"held": True, "loss": 5, "reorder": 10},
    "taps": {"tap": True, "loss": 1},
    "small packets": {"length": 1024},
}


def _timed(run, setting: np.ndarray) -> tuple[np.ndarray, float]:
    counted = np.zeros(1, traffic.COUNTED)
    began = time.process_time()
    run(setting, np.uint64(1), counted)
    return counted, time.process_time() - began


def speed() -> Table:
    """Nanoseconds a packet on the same sends, the best of interleaved runs."""
    library = compiled.load("gso/traffic_6_12.c")

    def in_c(setting, seed, counted):
        library.run(
            setting.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_uint64(int(seed)),
            counted.ctypes.data_as(ctypes.c_void_p),
        )

    table = Table(
        title=f"gso/traffic, ns a packet (bars: {BAR_C} of C, {BAR_PYTHON} times Python, ten "
        f"million packets in {BAR_SECONDS} s)"
    )
    for column in ("load", "C -O3", "numba", "Python", "of C", "times Python", "10^7 packets"):
        table.add_column(column, justify="left" if column == "load" else "right")
    for name, given in track(LOADS.items(), "speed", transient=True):
        params = Traffic(sends=SENDS, **given)
        packets = SENDS * -(-params.length // params.segment)
        chosen = traffic_setting(params)
        _timed(traffic.run, chosen)  # compiles
        best = {"c": np.inf, "numba": np.inf}
        for _ in range(REPEATS):
            expected, seconds = _timed(in_c, chosen)
            best["c"] = min(best["c"], seconds)
            found, seconds = _timed(traffic.run, chosen)
            best["numba"] = min(best["numba"], seconds)
            if (expected != found).any():
                raise RunFailed(f"{name}: numba counts {found}, C {expected}")
        few = traffic_setting(params.model_copy(update={"sends": PYTHON_SENDS}))
        plain, seconds = _timed(_python(), few)
        if (plain != _timed(in_c, few)[0]).any():
            raise RunFailed(f"{name}: plain Python counts otherwise than C")
        ns = {which: spent / packets * 1e9 for which, spent in best.items()}
        python = seconds / (packets / SENDS * PYTHON_SENDS) * 1e9
        table.add_row(
            name,
            f"{ns['c']:.2f}",
            f"{ns['numba']:.2f}",
            f"{python:.0f}",
            f"{ns['c'] / ns['numba']:.2f}",
            f"{python / ns['numba']:.0f}",
            f"{ns['numba'] / 100:.2f} s",
        )
    return table


def _python():
    """The model's functions as plain Python, on its own integers."""
    from lorelab.gso.model import netem

    integers = {"U": int, "ZERO": 0, "ONE": 1, "PAGE_SIZE": 4096, "MASK": 0xFFFFFFFF}

    def plain(compiled, **called):
        function = compiled.py_func
        return type(function)(function.__code__, {**function.__globals__, **integers, **called})

    draw = plain(netem.prandom_u32_state, _tausworthe=plain(netem._tausworthe))
    run = plain(
        traffic.run,
        prandom_seed_state=lambda seed: [int(word) for word in netem.prandom_seed_state(seed)],
        loss_event=plain(netem.loss_event, prandom_u32_state=draw),
        overtakes=plain(netem.overtakes, prandom_u32_state=draw),
        pages=plain(traffic.pages),
    )

    def on_arrays(setting, seed, counted):
        given, found = (
            SimpleNamespace(**{name: int(array[name][0]) for name in array.dtype.names})
            for array in (setting, counted)
        )
        run([given], seed, [found])
        for name in counted.dtype.names:
            counted[name] = getattr(found, name)

    return on_arrays


def reach() -> Table:
    """States and seconds of the whole search, by segments and CPUs, of the shared count."""
    table = Table(title="gso/lifetimes: every order, one clone, receivers, __kfree_skb()")
    for column in ("segments", "CPUs", "states", "transitions", "seconds"):
        table.add_column(column, justify="right")
    least = Lifetimes(segments=1)
    explore(MODEL, first(least), setting(least))  # compiles
    for segments, cpus in track([(3, 1), (4, 1), (3, 2), (4, 2)], "reach", transient=True):
        params = Lifetimes(variant=Variant.SHARED_COUNT, segments=segments, cpus=cpus)
        began = time.process_time()
        found = explore(MODEL, first(params), setting(params))
        spent = time.process_time() - began
        row = (segments, cpus, f"{len(found.states):,}", f"{found.transitions:,}", f"{spent:.2f}")
        table.add_row(*map(str, row))
    return table
