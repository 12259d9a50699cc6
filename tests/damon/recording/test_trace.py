"""Events as text: whose they are, and times that are none."""

import re
from itertools import zip_longest

import pytest

from lorelab.damon.recording import recording, report
from lorelab.errors import BadInput
from tests.damon.recording.test_recording import check_against
from tests.damon.recordings import make, perf, write


def test_two_kdamonds_have_a_target_0_each(tmp_path):
    """The kernel numbers targets within a context, and its thread alone tells which."""
    records = [make(seed, snapshots=4)[0] for seed in (15, 16)]
    texts = [perf([records[n]], f"kdamond.{n} 445{n} [00{n}]").splitlines() for n in (0, 1)]
    mixed = "\n".join(line for pair in zip_longest(*texts, fillvalue="") for line in pair)
    for text in (mixed, "\n".join(texts[0] + texts[1])):
        found = recording.read(write(tmp_path / "a", text))
        check_against(found, records, exact_times=False)
        assert [one.of for one in found] == ["kdamond.0", "kdamond.1"]
        assert set(report.summary(found)["of"]) == {"kdamond.0", "kdamond.1"}
    assert "of" not in report.summary([found[0]._replace(of="")])


@pytest.mark.parametrize("first", [0, 1])
def test_times_since_the_event_before_are_refused(tmp_path, first):
    """perf script --deltatime, whole or as grep leaves it."""
    lines = perf(make(17, snapshots=3)).splitlines()[first:]
    since = [f"{0.1 * (number % 3 == first) + 0.000001:.6f}:" for number in range(len(lines))]
    text = "\n".join(
        re.sub(r" \d+\.\d+:", f" {time}", line) for line, time in zip(lines, since, strict=True)
    )
    with pytest.raises(BadInput, match="omit perf script's --deltatime"):
        recording.read(write(tmp_path / "a", text))
