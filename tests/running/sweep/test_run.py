"""Sweeps on a cluster of their own and on one that is there: nothing finished is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from distributed import LocalCluster, as_completed

from lorelab.experiments import experiment
from lorelab.params import parse
from lorelab.running.sweep import points, run
from lorelab.running.sweep.journal import Journal
from lorelab.running.sweep.plan import grid

LIGHT = "swap/allocator-test"
GRID = ["-p", "seed=1:40", "-p", "iterations=1,2"]
SECONDS = 300


def start(*words):
    command = [Path(sys.executable).with_name("lorelab"), "sweep", LIGHT, *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def swept(*words):
    process = start(*words)
    out, said = process.communicate(timeout=SECONDS)
    return process.returncode, out, said


def lines(folder):
    return sum(file.read_bytes().count(b"\n") for file in Path(folder).glob("points-*.jsonl"))


def await_points(number, folder, process):
    """Return when so many points are kept, or the sweep has ended."""
    until = time.monotonic() + SECONDS
    while lines(folder) < number and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here:
        yield here


def test_a_sweep_is_all_points_with_their_parameters(tmp_path, cluster):
    folder = tmp_path / "sweep"
    where = ["-o", str(folder), "--scheduler", cluster.scheduler_address]
    status, out, said = swept(*GRID, *where)
    assert status == 0, said
    table, page = (Path(line) for line in out.split())
    found = pd.read_parquet(table)
    assert list(found.columns) == ["seed", "iterations", *points.COLUMNS]
    assert len(found[["seed", "iterations"]].drop_duplicates()) == 80
    one = found[(found["seed"] == 7) & (found["iterations"] == 2)]
    asked = experiment(LIGHT)
    alone = asked.simulate(parse(asked.Params, {"seed": "7", "iterations": "2"}))
    assert one["value"].tolist() == alone["value"].tolist()
    assert one["counter"].tolist() == alone["counter"].tolist()
    assert page.read_text().count("<svg") == alone["counter"].nunique()
    status, _, said = swept(*GRID, *where)
    assert status == 0
    assert "80 of 80 points are finished already" in said


def test_a_bad_point_stops_a_sweep_before_it_starts(tmp_path):
    folder = tmp_path / "sweep"
    status, out, said = swept("-p", "seed=1:4", "-p", "iterations=1,none", "-o", str(folder))
    assert (status, out) == (2, "")
    assert said.startswith("lorelab: iterations=none:")
    assert not folder.exists()


def test_a_scheduler_that_is_not_there_is_bad_input(tmp_path):
    where = ["-o", str(tmp_path), "--scheduler", "tcp://127.0.0.1:1"]
    status, _, said = swept("-p", "seed=1,2", *where)
    assert status == 2
    assert "takes tcp://HOST:PORT" in said


def test_kill_9_loses_no_finished_point(tmp_path, cluster):
    folder = tmp_path / "sweep"
    words = ["-p", "seed=1:60", "-p", "iterations=40", "-o", str(folder)]
    words += ["--scheduler", cluster.scheduler_address]
    process = start(*words)
    await_points(5, folder, process)
    process.kill()
    process.communicate()
    kept = lines(folder)
    assert 5 <= kept < 60
    status, out, said = swept(*words)
    assert status == 0, said
    assert f"{kept} of 60 points are finished already" in said or lines(folder) == 60
    table = pd.read_parquet(out.split()[0])
    assert sorted(table["seed"].unique()) == list(range(1, 61))


def test_a_worker_that_dies_loses_no_point(tmp_path):
    folder = tmp_path / "sweep"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        words = ["-p", "seed=1:40", "-p", "iterations=40", "-o", str(folder)]
        process = start(*words, "--scheduler", cluster.scheduler_address)
        await_points(3, folder, process)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        out, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, said
    assert len(pd.read_parquet(out.split()[0])["seed"].unique()) == 40


def test_a_result_that_is_lost_before_it_is_fetched_is_waited_for(tmp_path, cluster, monkeypatch):
    """Its worker died between the word that it is finished and the look at it."""
    lost = []

    class Coming(as_completed):
        def __next__(self):
            future = super().__next__()
            if not lost:
                lost.append(future.key)
                future._state.lose()
                again = future._state.finish
                threading.Timer(0.2, future.client.loop.add_callback, (again,)).start()
            return future

    monkeypatch.setattr(run, "as_completed", Coming)
    plan = grid(LIGHT, ("seed=1:3", "iterations=1"))
    with Journal(tmp_path, plan, "a" * 64) as journal:
        assert run.run(journal, cluster.scheduler_address) == {}
        assert lost and sorted(journal.done) == [0, 1, 2]


def test_a_scheduler_that_goes_away_keeps_what_is_finished(tmp_path):
    folder = tmp_path / "sweep"
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        words = ["-p", "seed=1:400", "-p", "iterations=40", "-o", str(folder)]
        process = start(*words, "--scheduler", cluster.scheduler_address)
        await_points(3, folder, process)
    _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "the scheduler is gone" in said
    assert "run it again to go on" in said
    assert lines(folder) >= 3


def test_a_scheduler_that_is_killed_ends_with_one_line(tmp_path):
    """Scheduler and worker are processes of their own, as on a cluster."""
    bin_, folder, file = Path(sys.executable).parent, tmp_path / "sweep", tmp_path / "scheduler"
    own = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["--scheduler-file", file, "--no-dashboard"]
    scheduler = subprocess.Popen([bin_ / "dask", "scheduler", *words, "--port", "0"], **own)
    worker = subprocess.Popen([bin_ / "dask", "worker", *words, "--nthreads", "1"], **own)
    try:
        until = time.monotonic() + SECONDS
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        address = pd.read_json(file, typ="series")["address"]
        points_ = ["-p", "seed=1:3000", "-p", "iterations=40", "-o", str(folder)]
        process = start(*points_, "--scheduler", address)
        await_points(3, folder, process)
        scheduler.kill()
        out, said = process.communicate(timeout=SECONDS)
    finally:
        scheduler.kill()
        worker.kill()
        scheduler.wait()
        worker.wait()
    kept = lines(folder)
    assert process.returncode == 1 and kept >= 3 and out == ""
    [line] = said.splitlines()
    assert line.startswith(f"lorelab: the scheduler is gone; {kept} of 3000 points are kept")
