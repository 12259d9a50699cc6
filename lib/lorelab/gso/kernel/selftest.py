"""`gso/selftest`: the kernel's own tests of zero copy and of UDP_SEGMENT, on the chapter's kernel.

They are built out of the kernel's source when the laboratory is, and run with every switch as the
kernel has it.
"""

import pandas as pd

from lorelab import counters
from lorelab.errors import RunFailed
from lorelab.gso.kernel import boot
from lorelab.gso.params import Selftest
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request, one_boot

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


def _request(batch: list[Selftest]) -> Request:
    runs = [{"commands": COMMANDS[p.test], "says": SAYS[p.test]} for p in batch]
    job = Job(boot.DESIGN, "selftests", {"runs": runs}, SECONDS * len(runs), rows=len(runs))
    return Request(boot.MACHINE._replace(cpus=2), job, patched=True)


def _counters(params: Selftest, measured: Measured, run: int) -> pd.DataFrame:
    """`run`, `passed` (exit status 0) [commands], and `checks`, parts that came to their end."""
    row = measured.rows[run]
    if row["failed"]:
        raise RunFailed(f"gso/selftest: {'; '.join(row['failed'])}")
    columns = {
        "run": ("commands", [len(COMMANDS[params.test])]),
        "passed": ("commands", [row["passed"]]),
        "checks": ("parts", [row["checks"]]),
    }
    return counters.table("gso/selftest", params.test, "kernel", columns, first=0)


measure = Measurement("gso/selftest", _request, _counters, machine=one_boot)
