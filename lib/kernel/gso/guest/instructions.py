"""What sends over dummy0 take, where a tick is an instruction and nothing else runs."""

from switches import turned
from traffic import HERE, OTHER, PORT, sh, up


def run(params):
    """Yield `ns` of all sends for each of `params["runs"]`, `params["repeats"]` times.

    A run has `switches`, `sends`, `length`, `segment` and `zerocopy`.
    """
    up("dummy")
    words = ("sends", "length", "segment", "zerocopy")
    for _ in range(params["repeats"]):
        for number, wanted in enumerate(params["runs"]):
            with turned(wanted["switches"]):
                said = sh(HERE / "sendcost", OTHER, PORT, *(str(int(wanted[w])) for w in words))
            yield {"run": number, "ns": int(said)}
