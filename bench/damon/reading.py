"""How long a recording of 100 MB takes to read, in a process of its own: time and memory.

    python -m bench.damon.reading json|perf FILE

writes the recording to FILE if it is not there, else reads it, and prints a JSON object: of what it
read MB, seconds of processor time, regions, and the peak resident set in MiB.
"""

import json
import resource
import sys
from pathlib import Path
from time import process_time

from lorelab.damon.recording.recording import read
from tests.damon import recordings

MB = 100


def written(kind: str, file: Path) -> None:
    """Repeat a recording's snapshots until the file has its size."""
    whole = recordings.make(seed=1, snapshots=100)
    text = {"json": recordings.damo, "perf": recordings.perf}[kind]
    times = MB * 10**6 // len(text(whole)) + 1
    [record] = whole
    first, last = record["snapshots"][0]["start"], record["snapshots"][-1]["end"]
    record["snapshots"] = [
        {**one, "start": one["start"] + n * (last - first), "end": one["end"] + n * (last - first)}
        for n in range(times)
        for one in record["snapshots"]
    ]
    recordings.write(file, text(whole))


if __name__ == "__main__":
    kind, file = sys.argv[1], Path(sys.argv[2])
    if not file.exists():
        written(kind, file)
        print("{}")
        sys.exit()
    start = process_time()
    regions = sum(len(one.low) for one in read(file))
    seconds = process_time() - start
    found = {"mb": file.stat().st_size / 1e6, "seconds": seconds, "regions": regions}
    found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    json.dump(found, sys.stdout)
