"""The guest's frames: whole ones arrive however they are cut, damaged ones never pass."""

import io
import json
import runpy
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.lab.cache import KERNEL_FILES
from lorelab.lab.protocol import Damaged, Reader

AGENT = runpy.run_path(str(KERNEL_FILES / "common" / "guest" / "agent.py"))
values = st.dictionaries(st.text(max_size=8), st.integers() | st.text() | st.booleans(), max_size=4)
rows = st.lists(values.map(lambda value: {"value": value}), max_size=6)


def said(content: list[dict]) -> bytes:
    """What the guest's own sender writes for these rows."""
    stream = io.BytesIO()
    send = AGENT["sender"](stream)
    send("hello", release="6.12.117")
    for row in content:
        send("row", **row)
    send("end")
    return stream.getvalue()


@given(rows, st.lists(st.integers(1, 40), max_size=50), st.binary(max_size=30))
def test_whole_however_cut(content, cuts, chatter):
    stream = chatter.replace(b"@", b"") + said(content)
    reader = Reader()
    for cut in cuts:
        reader.feed(stream[:cut])
        stream = stream[cut:]
    reader.feed(stream)
    assert reader.ended
    assert reader.rows == content
    assert reader.hello == {"release": "6.12.117"}


@given(rows, st.data())
def test_a_changed_byte_never_passes(content, data):
    stream = bytearray(said(content))
    place = data.draw(st.integers(0, len(stream) - 1))
    stream[place] ^= 1 << data.draw(st.integers(0, 7))
    reader = Reader()
    try:
        reader.feed(bytes(stream))
    except Damaged:
        return
    # Otherwise the change hit the space between frames, or cost a frame and so the end.
    assert not reader.ended or (reader.rows == content and reader.hello)


@given(rows, st.data())
def test_a_lost_line_never_passes(content, data):
    lines = said(content).splitlines(keepends=True)
    frames = [i for i, line in enumerate(lines) if line.startswith(b"@lorelab")]
    del lines[data.draw(st.sampled_from(frames))]
    reader = Reader()
    try:
        reader.feed(b"".join(lines))
    except Damaged:
        return
    assert not reader.ended


def test_the_agent_sends_what_a_workload_dies_of(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("def run(params):\n    yield {'n': 1}\n    {}['swap']\n")
    (tmp_path / "job.json").write_text(
        json.dumps({"workload": "broken", "params": {}, "probes": []})
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    stream = io.BytesIO()
    main = AGENT["main"]
    monkeypatch.setitem(main.__globals__, "HERE", tmp_path)
    monkeypatch.setitem(main.__globals__, "port", lambda: stream)
    main()
    sys.modules.pop("broken")
    reader = Reader()
    reader.feed(stream.getvalue())
    assert reader.ended
    assert reader.rows == [{"n": 1}]
    assert reader.error == "KeyError: 'swap'"


@pytest.mark.parametrize("line", [b"@lorelab\n", b"@lorelab 0\n", b"@lorelab 0 zz {}\n"])
def test_a_line_that_only_looks_like_a_frame(line):
    with pytest.raises(Damaged):
        Reader().feed(line.replace(b"@lorelab\n", b"@lorelab \n"))
