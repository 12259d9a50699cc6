"""What the README and the first page tell a reader to type is there."""

import re
from pathlib import Path

import click
import pytest

from lorelab.cli import cli

ROOT = Path(__file__).parents[1]
TEXTS = ["README.md", "notebooks/start.ipynb"]


@pytest.mark.parametrize("name", TEXTS)
def test_doors_and_targets_exist(name):
    text = (ROOT / name).read_text()
    doors = set(re.findall(r"\blorelab ([a-z]+)\b(?=[ `])", text))
    targets = set(re.findall(r"(?:`|    )make ([a-z]+)", text))
    assert doors <= set(cli.commands), doors - set(cli.commands)
    assert targets
    rules = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", rules, flags=re.MULTILINE) for target in targets)


def test_every_door_and_target_is_in_the_readme():
    text = (ROOT / "README.md").read_text()
    for door, command in cli.commands.items():
        assert f"lorelab {door}" in text
        if isinstance(command, click.Group):
            assert all(f"`{part}`" in text or f"{door} {part}" in text for part in command.commands)
    phony = re.search(r"^\.PHONY: env (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert all(f"make {target}" in text for target in phony[1].split() if target != "clean")
