"""DAMON's files under /sys/kernel/mm/damon: kdamonds with one context and one target each."""

from pathlib import Path

ADMIN = Path("/sys/kernel/mm/damon/admin/kdamonds")
UINT_MAX, ULONG_MAX = 2**32 - 1, 2**64 - 1


def folders(number):
    """Those of a kdamond and of its context."""
    return ADMIN / str(number), ADMIN / str(number) / "contexts" / "0"


def write(path, value):
    path.write_text(f"{value}\n")


def configure(pid, attrs, schemes=(), kdamonds=1):
    """Set up monitoring of process `pid`; it does not begin yet.

    `attrs` has sample_us, aggr_us, update_us, min_regions and max_regions; a scheme is what
    `scheme()` takes. Each kdamond is set up alike.
    """
    if not ADMIN.exists():
        raise NotImplementedError(f"{ADMIN}; it takes CONFIG_DAMON_SYSFS")
    write(ADMIN / "nr_kdamonds", 0)
    write(ADMIN / "nr_kdamonds", kdamonds)
    for number in range(kdamonds):
        _configure(*folders(number), pid, attrs, schemes)


def _configure(kdamond, context, pid, attrs, schemes):
    write(kdamond / "contexts" / "nr_contexts", 1)
    write(context / "operations", "vaddr")
    write(context / "targets" / "nr_targets", 1)
    write(context / "targets" / "0" / "pid_target", pid)
    intervals = context / "monitoring_attrs" / "intervals"
    for name in ("sample_us", "aggr_us", "update_us"):
        write(intervals / name, attrs[name])
    bounds = context / "monitoring_attrs" / "nr_regions"
    # Each is checked against the other as it is written.
    write(bounds / "min", 3)
    write(bounds / "max", attrs["max_regions"])
    write(bounds / "min", attrs["min_regions"])
    write(context / "schemes" / "nr_schemes", len(schemes))
    for number, wanted in enumerate(schemes):
        scheme(context / "schemes" / str(number), **wanted)


def scheme(folder, action, sz, nr_accesses, age, quota_bytes, quota_ms, goal=None, watermarks=None):
    """Set up a scheme; `sz`, `nr_accesses` and `age` are pairs, lowest and highest.

    A `goal` is what the user's measure should be, and what it is; `watermarks` are high, mid and
    low in thousandths of memory, and the us between two looks.
    """
    write(folder / "action", action)
    for name, (low, high) in {"sz": sz, "nr_accesses": nr_accesses, "age": age}.items():
        write(folder / "access_pattern" / name / "min", low)
        write(folder / "access_pattern" / name / "max", high)
    write(folder / "quotas" / "bytes", quota_bytes)
    write(folder / "quotas" / "reset_interval_ms", quota_ms)
    for name in ("sz", "nr_accesses", "age"):
        write(folder / "quotas" / "weights" / f"{name}_permil", int(name != "sz"))
    if goal:
        write(folder / "quotas" / "goals" / "nr_goals", 1)
        for name, value in zip(("target_value", "current_value"), goal, strict=True):
            write(folder / "quotas" / "goals" / "0" / name, value)
    if watermarks:
        write(folder / "watermarks" / "metric", "free_mem_rate")
        for name, value in zip(("high", "mid", "low", "interval_us"), watermarks, strict=True):
            write(folder / "watermarks" / name, value)


def turn(state, number=0):
    write(folders(number)[0] / "state", state)


def kdamond(number=0):
    """Process id of a running kdamond."""
    return int((folders(number)[0] / "pid").read_text())


def scheme_stats():
    """Counts of each scheme of the first kdamond since monitoring began."""
    turn("update_schemes_stats")
    schemes = folders(0)[1] / "schemes"
    each = sorted(schemes.glob("[0-9]*"), key=lambda path: int(path.name))
    return [
        {file.name: int(file.read_text()) for file in (folder / "stats").iterdir()}
        for folder in each
    ]
