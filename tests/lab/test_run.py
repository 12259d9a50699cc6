"""What a boot is asked for besides what the experiment asks."""

from types import SimpleNamespace

import pytest

from lorelab.lab import run
from lorelab.lab.boot import Job, Machine


class Asked(Exception):
    """Stands for the boot; holds its machine."""


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("lab", ("quiet",)),
        ("kcsan", ("quiet",)),
        ("kasan", ("no5lvl", "quiet")),
        ("debug", ("no5lvl", "quiet")),
        (None, ("quiet",)),
    ],
)
def test_a_kernel_with_kasan_has_four_levels_of_page_tables(monkeypatch, config, words):
    kernel = SimpleNamespace(image=None, modules=None, info=SimpleNamespace(config=config))

    def boot(image, root, programs, machine, job, modules):
        raise Asked(machine)

    monkeypatch.setattr(run.needs, "check", lambda needed: None)
    monkeypatch.setattr(run.build, "recipe", lambda design, patched: None)
    monkeypatch.setattr(run.build, "built", lambda made: kernel)
    monkeypatch.setattr(run.guest, "built", lambda: SimpleNamespace(root=None))
    monkeypatch.setattr(run.guest, "programs", lambda made: None)
    monkeypatch.setattr(run.boot, "run", boot)
    with pytest.raises(Asked) as asked:
        run.measure(Machine(append=("quiet",)), Job("gso", "stream", {}, 1, 1))
    assert asked.value.args[0].append == words
