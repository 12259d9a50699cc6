"""As `stream.py`, and how long each phase took: the pace at which the guest wrote and read."""

import time

import stream


def run(params):
    """Yield the rows of `stream.run()`, each phase's with `ms` among what changed in it."""
    plain, took = stream.act, []

    def timed(phase, program):
        begun = time.monotonic()
        plain(phase, program)
        took.append(round(1000 * (time.monotonic() - begun)))

    stream.act = timed
    for row in stream.run(params):
        if "changed" in row:
            row["changed"]["ms"] = took.pop()
        yield row
