"""`vmalock/broken` on a real kernel: a step of the lock left out, in a guest to be thrown away."""

from lorelab.counters import table
from lorelab.lab import build
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as run
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN
from lorelab.vmalock.params import Broken

NAME = "vmalock/broken"
SWITCHES = {"fork": "vmalock/fork_mark", "remap": "vmalock/detached_check"}
WRONG = {"fork": ("lost", "writes"), "remap": ("stale", "places")}
APPEND = {
    # An interrupt while identify_cpu() has cleared the CPU's features takes the direct map of five
    # levels for wild.
    "kasan": ("no5lvl",),
    # The job lets it look; what it says of a boot would be the run's failure.
    "kcsan": ("kcsan.early_enable=0",),
}
COUNTED = ("locked", "early", "trylock", "late", "detached", "marked")


def measure(wanted: list[Broken], lab: Lab) -> list[Record]:
    """Run broken.c with the step and without it, a boot each, for a broken guest can't be trusted.

    Returns
    -------
    list of Record
        As asked, all of step 0: `ended` (whether the program came to its end), `lost` writes or
        `stale` places, what the kernel counted of its locks, and its complaints, each a counter
        `kernel: WORDS` with how often it came.

    Raises
    ------
    BadInput
        The kernel of `config` is not built.
    """
    return [_measure(params, lab) for params in wanted]


def _measure(params: Broken, lab: Lab) -> Record:
    if params.config != "lab" and lab.image is None:
        lab = lab._replace(image=build.built(build.recipe(DESIGN, params.config)).image)
    one = {
        "command": [params.workload, str(params.rounds), str(params.size)],
        "switches": switches(params),
    }
    job = Job(DESIGN, "broken", {"runs": [one]}, 2 * SECONDS_A_RUN, 1)
    machine = Machine(cpus=4, memory_mib=1024, append=APPEND.get(params.config, ()))
    measured = run(machine, job, lab, patched=True)
    [row] = measured.rows
    name, unit = WRONG[params.workload]
    counters = {"ended": ("programs", [int(row["ended"])])}
    if row["said"]:
        counters[name] = (unit, [row["said"][1]])
    counters |= {f"step_{each}": ("VMAs", [row["counts"][f"step_{each}"]]) for each in COUNTED}
    counters |= {f"kernel: {words}": ("times", [n]) for words, n in row["complaints"].items()}
    return measured.record(NAME, params, table(NAME, "v6.12", "kernel", counters, first=0))


def switches(params: Broken) -> dict[str, str]:
    """What is turned: the step that is left out; with KASAN a reader dawdles before it locks."""
    found = {SWITCHES[params.workload]: "off"} if params.without else {}
    if params.config == "kasan" and params.workload == "remap":
        found["vmalock/dawdle"] = "on"  # lib/kernel/vmalock/configs/kasan
    return found
