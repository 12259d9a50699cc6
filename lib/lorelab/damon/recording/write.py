"""A run of the model in the file that damo writes, `damon.data`, for whatever reads those."""

import json
import zlib
from pathlib import Path

from lorelab import atomic
from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.params import Masim
from lorelab.damon.workload.setup import configuration, context, memory


def write(params: Masim, windows: int, file: Path) -> None:
    """Record the first windows of a program, as `damo record` does with `json_compressed`.

    Parameters
    ----------
    params : Masim
    windows : int
    file : Path
        Where the recording goes.
    """
    pages = memory(params, configuration(params))
    ctx = context(params, pages)
    snapshots, begin = [], 0
    for _ in range(windows):
        n = kdamond_window(ctx, pages)
        end = int(pages.info["now"][0])
        rows = ctx.trace[:n][["start", "end", "nr_accesses", "age"]].tolist()
        snapshots.append(
            {
                "start_time": str(begin),
                "end_time": str(end),
                "regions": [_region(*row) for row in rows],
                "total_bytes": None,
            }
        )
        begin = end
    record = {
        "kdamond_idx": 0,
        "context_idx": 0,
        "intervals": {
            "sample_us": str(params.sample_us),
            "aggr_us": str(params.aggr_us),
            "ops_update_us": str(params.update_us),
        },
        "scheme_idx": None,
        "target_id": 0,
        "scheme_filters": [],
        "snapshots": snapshots,
    }
    atomic.write(file, zlib.compress(json.dumps([record]).encode(), 9))


def _region(start: int, end: int, nr_accesses: int, age: int) -> dict:
    return {
        "start": f"{start:,}",
        "end": f"{end:,}",
        "nr_accesses": {"samples": nr_accesses, "percent": None},
        "age": {"usec": None, "aggr_intervals": f"{age:,}"},
        "sz_filter_passed": "0 B",
    }
