"""What an experiment asks a guest for, without one: every field counts, and nothing falls over."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import experiments
from lorelab.lab import boot, build, external_kernel, guest, needs
from lorelab.lab.run import RunOptions
from lorelab.params import for_kernel, only, parse
from tests.points import SMALL, one_at_a_time, recording

BOOTS_NOTHING = {"gso/layout"}
"""It reads the debug information of an image."""
KERNELS = [
    one
    for one in experiments().values()
    if "kernel" in one.backends and one.name not in BOOTS_NOTHING
]
OF_THE_READER = dict.fromkeys(("gso/unread", "fairzone/tiers"), RunOptions(image=Path("vmlinuz")))
"""Experiments that the laboratory's kernel cannot answer, and what they are given."""
KERNEL = {
    "swap/usemem": {"variant": "v6.12", "split_batching": True, "architecture": "x86"},
    "damon/hotspot": {"own": True},
}
"""What a kernel takes, where it does not take the default."""
AFTERWARDS = {"damon/accuracy": {"allowed_percent"}}
"""Fields that are read when the guest has answered."""


class Sent(Exception):
    """What a guest was asked for."""


@pytest.fixture(autouse=True)
def no_guest(monkeypatch):
    """Stands for everything that boots."""

    def run(*asked, **more):
        raise Sent(repr((asked, more)))

    def stand_in(image):
        return SimpleNamespace(image=image, info=SimpleNamespace(config="lab"), modules=None)

    monkeypatch.setattr(needs, "check", lambda *wanted: None)
    monkeypatch.setattr(build, "built", lambda made: stand_in(Path(repr(made))))
    monkeypatch.setattr(external_kernel, "find", stand_in)
    monkeypatch.setattr(guest, "built", lambda: SimpleNamespace(root="root", info=None))
    monkeypatch.setattr(guest, "programs", lambda made: "programs")
    monkeypatch.setattr(boot, "run", run)


def asked(found, point):
    """What a point asks a guest for, or why it is refused; and which fields were read."""
    read = set()
    try:
        params = parse(recording(found.Params, read), point)
        read.clear()
        found.measure([params], OF_THE_READER.get(found.name))
    except Sent as sent:
        return str(sent), read
    except (BadInput, RunFailed) as refused:
        assert str(refused) and "\n" not in str(refused), refused
        return f"refused: {refused}", read
    raise AssertionError("nothing was sent")


@pytest.mark.parametrize("found", KERNELS, ids=lambda one: one.name)
def test_a_guest_is_asked_for_every_field_or_it_is_refused(found):
    """Each in turn at both ends of its range."""
    base = SMALL.get(found.name, {}) | KERNEL.get(found.name, {})
    base = for_kernel(parse(found.Params, base)).model_dump(mode="json", exclude_defaults=True)
    sent, read = asked(found, base)
    assert not sent.startswith("refused"), sent
    differs = set()
    for field, point in one_at_a_time(found.name, found.Params):
        given, seen = asked(found, {**base, field: point[field]})
        read |= seen
        if given != sent:
            differs.add(field)
    known = only(found.Params, "model") | AFTERWARDS.get(found.name, set())
    ignored = set(found.Params.model_fields) - read - differs - known
    assert not ignored, f'declare only="model", or send: {", ".join(sorted(ignored))}'
