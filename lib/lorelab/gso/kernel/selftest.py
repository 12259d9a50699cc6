"""`gso/selftest`: the kernel's own tests of zero copy and of UDP_SEGMENT, on the chapter's kernel.

They are built out of the kernel's source when the laboratory is, and run with every switch as the
kernel has it.
"""

from lorelab import counters
from lorelab.errors import RunFailed
from lorelab.gso.kernel.traffic import LINKS
from lorelab.gso.params import Selftest
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot

COMMANDS = {
    # What msg_zerocopy.sh runs when it is given no arguments, without its `-t 1`: that has the
    # receiver run no longer than the sender, which under emulation starts so late that it finds
    # nobody left. Each part sends twice, the second time with zero copy.
    "msg_zerocopy": [
        f"./msg_zerocopy.sh {version} {protocol}"
        for protocol in ("tcp", "udp")
        for version in (4, 6)
    ],
    "udpgso": ["./udpgso.sh"],
}
SAYS = {"msg_zerocopy": ["zc=n", "zc=y"], "udpgso": ["OK\n"]}
"""What a sender prints when it got to its end, and what udpgso prints after all cases of a part."""
SECONDS = 400.0


def measure(wanted: list[Selftest], lab: Lab | None = None) -> list[Record]:
    """Run the tests, all in one boot.

    Returns
    -------
    list of Record
        `run`, `passed` (exit status 0) [commands], and `checks`, parts that came to their end.

    Raises
    ------
    BadInput
        The laboratory lacks something.
    RunFailed
        A test failed, or the guest did not come to the end.
    """
    runs = [{"commands": COMMANDS[p.test], "says": SAYS[p.test]} for p in wanted]
    job = Job("gso", "selftests", {"runs": runs}, SECONDS * len(runs), rows=len(runs))
    measured = boot(Machine(cpus=2, modules=LINKS), job, lab, patched=True)
    records = []
    for run, (params, row) in enumerate(zip(wanted, measured.rows, strict=True), 1):
        if row["failed"]:
            raise RunFailed(f"gso/selftest: {'; '.join(row['failed'])}")
        found = {
            "run": ("commands", [len(COMMANDS[params.test])]),
            "passed": ("commands", [row["passed"]]),
            "checks": ("parts", [row["checks"]]),
        }
        table = counters.table("gso/selftest", params.test, "kernel", found, first=0)
        records.append(measured.record("gso/selftest", params, table, run))
    return records
