"""Workflows of a fork run the commands that every checkout has, and nothing of their own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
LORELAB = Path(sys.executable).with_name("lorelab")


def steps(flow: Path) -> list[dict]:
    return [
        step for job in yaml.safe_load(flow.read_text())["jobs"].values() for step in job["steps"]
    ]


def test_there_is_one_for_tests_book_and_laboratory():
    assert [flow.stem for flow in FLOWS] == ["book", "laboratory", "test"]
    # YAML 1.1 reads the key `on` as true.
    when = {flow.stem: set(yaml.safe_load(flow.read_text())[True]) for flow in FLOWS}
    assert "push" in when["test"] and "push" in when["book"] and "schedule" in when["laboratory"]


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.stem)
def test_its_commands_are_there(flow):
    rules = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = " ; ".join(step["run"] for step in steps(flow) if "run" in step)
    assert set(re.findall(r"(?:^|; |&& )make ([a-z-]+)", commands)) <= rules
    for door in re.findall(r"\.venv/bin/lorelab ((?:[a-z]+ )*[a-z]+)", commands):
        done = subprocess.run([LORELAB, *door.split(), "--help"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for flag in re.findall(r"lorelab [a-z ]+ (--[a-z]+)", commands):
        assert flag in {"--packages", "--seed"}
    for file in re.findall(r"(?:^|; )(\.[a-z]+/[a-z]+)(?= |$)", commands):
        assert (ROOT / file).is_file() or file == ".venv/bin"
    assert all(step.keys() <= {"run", "uses", "with", "if"} for step in steps(flow))


def test_once_a_week_every_model_is_tried_at_the_ends_of_its_ranges():
    ran = [
        step["run"] for step in steps(ROOT / ".github/workflows/laboratory.yml") if "run" in step
    ]
    assert ".ci/run test-all" in ran
    made = subprocess.run(
        ["make", "-n", "-p", "test-all"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "\ntest-all: LORELAB_RANGES = all\n" in made.stdout.replace("export ", "")


def test_each_python_that_the_package_takes_is_tested():
    [job] = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"].values()
    assert {one["image"] for one in job["strategy"]["matrix"]["include"]} == {
        "debian:12",
        "python:3.12-bookworm",
    }
