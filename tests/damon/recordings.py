"""Small recordings in every format that a reader may bring, made from one description."""

import json
import random
import zlib
from itertools import pairwise
from pathlib import Path

SAMPLE_US, AGGR_US = 5_000, 100_000
BASE = 0x7F00_0000_0000


def make(seed: int, snapshots: int = 40, targets: int = 1, aged: bool = True) -> list[dict]:
    """A recording as damo's own objects have it: records of snapshots of regions, plain numbers.

    Two ranges with a gap that stays, borders that move, counts up to one above aggr / sample.
    """
    rng = random.Random(seed)
    records = []
    for target in range(targets):
        time = 82_877_000_000_000 + rng.randrange(10**9)
        made = []
        for _ in range(snapshots):
            begin, time = time, time + 100_000_000 + rng.randrange(2_000_000)
            regions = []
            for low, high in ((0x5500_0000_0000, 0x5500_0040_0000), (BASE, BASE + (64 << 20))):
                pages = range(low + 4096, high, 4096)
                borders = sorted(rng.sample(pages, rng.randrange(1, 9)))
                ends = [low, *borders, high]
                for start, end in pairwise(ends):
                    age = rng.randrange(200) if aged else None
                    regions.append((start, end, rng.choice([0, 0, 0, 1, 7, 20, 21]), age))
            made.append({"start": begin, "end": time, "regions": regions})
        records.append({"target": target, "snapshots": made})
    return records


def comma(number: int) -> str:
    return f"{number:,}"


def damo(records: list[dict], intervals: bool = True, numbers=comma, tuned: bool = False) -> str:
    """damo's JSON; `numbers` says how a count in a region is written, by old and new versions."""
    out = []
    for record in records:
        out.append(
            {
                "kdamond_idx": 0,
                "context_idx": 0,
                "intervals": _intervals(tuned) if intervals else None,
                "scheme_idx": None,
                "target_id": record["target"],
                "scheme_filters": [],
                "snapshots": [
                    {
                        "start_time": f"{snapshot['start']}",
                        "end_time": f"{snapshot['end']}",
                        "regions": [
                            {
                                "start": numbers(start),
                                "end": numbers(end),
                                "nr_accesses": {"samples": accesses, "percent": None},
                                "age": {
                                    "usec": None,
                                    "aggr_intervals": None if age is None else numbers(age),
                                },
                                "sz_filter_passed": "0 B",
                            }
                            for start, end, accesses, age in snapshot["regions"]
                        ],
                        "total_bytes": "0",
                    }
                    for snapshot in record["snapshots"]
                ],
            }
        )
    return json.dumps(out, indent=4)


def _intervals(tuned: bool) -> dict:
    goal = {"access_bp": "400", "aggrs": "3", "min_sample_us": "5000", "max_sample_us": "10000000"}
    plain = {"sample_us": "5000", "aggr_us": "100000", "ops_update_us": "1000000"}
    return {**plain, "intervals_goal": goal} if tuned else plain


def perf(records: list[dict], comm: str = "kdamond.0  4452 [000]") -> str:
    """Text of `perf script`; without the last field where the regions have no age."""
    lines = []
    for record in records:
        for snapshot in record["snapshots"]:
            for start, end, accesses, age in snapshot["regions"]:
                lines.append(
                    f"{comm} {snapshot['end'] / 1e9:f}: damon:damon_aggregated: "
                    f"target_id={record['target']} nr_regions={len(snapshot['regions'])} "
                    f"{start}-{end}: {accesses}{'' if age is None else f' {age}'}"
                )
    return "\n".join(lines) + "\n"


def write(path: Path, text: str, compressed: bool = False) -> Path:
    data = text.encode()
    path.write_bytes(zlib.compress(data) if compressed else data)
    return path
