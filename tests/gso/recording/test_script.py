"""The script that records, in a folder that stands for the kernel's: it leaves nothing behind."""

import os
import re
import signal
import subprocess
import time

import pytest

from lorelab.gso.recording import recording

INSTANCE = """#!/bin/sh
case $1 in
instances/*) ;;
*) exec /bin/mkdir "$@" ;;
esac
for event in copied done vhost uring packet; do
	/bin/mkdir -p "$1/events/${1#instances/}/$event"
done
echo 'an event' >"$1/trace_pipe"
"""


@pytest.fixture
def kernel(tmp_path):
    """A tracing folder; its instances come and go as the kernel's, with all that is in them."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "tracing/instances").mkdir(parents=True)
    for name, text in {
        "uname": "#!/bin/sh\necho 6.12.117\n",
        "mkdir": INSTANCE,
        "rmdir": '#!/bin/sh\nexec rm -r "$@"\n',
    }.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def started(kernel, seconds, stdout=subprocess.PIPE):
    text = recording.SCRIPT.read_text().replace("/sys/kernel/tracing", str(kernel / "tracing"))
    # A shell can trap no signal that it was started without, as under nohup.
    return subprocess.Popen(
        ["env", "--default-signal", "sh", "-c", text, "record.sh", str(seconds)],
        env={"PATH": f"{kernel / 'bin'}:/usr/bin:/bin"},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def left(kernel):
    """Events that were made and not taken away, and instances."""
    lines = (kernel / "tracing/kprobe_events").read_text().splitlines()
    made = {line.split(":", 1)[1].split()[0] for line in lines if line[0] in "pr"}
    gone = {line[2:] for line in lines if line[0] == "-"}
    assert made
    return made - gone, os.listdir(kernel / "tracing/instances")


STATUS = {None: 0, signal.SIGINT: 130, signal.SIGQUIT: 131}


def ends(kernel, number):
    """What is recorded by a script that this signal ends after its first event."""
    run = started(kernel, 1 if number is None else 600)
    lines = []
    if number is not None:
        while not any("an event" in line for line in lines):
            lines.append(run.stdout.readline())
        os.killpg(run.pid, number)
    text, said = run.communicate(timeout=60)
    whole = "".join(lines) + text
    assert run.returncode == STATUS.get(number, 143)
    assert left(kernel) == (set(), [])
    # The shell's words on what it waited for.
    assert set(said.splitlines()) <= {"Terminated", "Hangup", "Quit"}
    return whole


@pytest.mark.parametrize("number", [*STATUS, signal.SIGTERM, signal.SIGHUP])
def test_however_it_ends_nothing_is_left_and_the_recording_is_whole(kernel, number):
    whole = ends(kernel, number)
    assert whole.endswith("an event\n# end\n")
    assert re.findall("^# watches (.*)$", whole, re.MULTILINE) == ["copied", *recording.SENDERS]


def test_a_signal_that_comes_before_the_readers_number_is_known_ends_it_whole(kernel, monkeypatch):
    # The shell is held there, for the reader may print before the shell's next command; by short
    # naps, as it looks for a signal between two commands.
    held = "\nwhile true; do sleep 0.1; done\nreader=$!\n"
    slow = kernel / "record.sh"
    slow.write_text(recording.SCRIPT.read_text().replace("\nreader=$!\n", held))
    monkeypatch.setattr(recording, "SCRIPT", slow)
    assert ends(kernel, signal.SIGHUP).endswith("an event\n# end\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM])
def test_a_second_signal_leaves_nothing_either(kernel, number):
    run = started(kernel, 600)
    while "an event" not in run.stdout.readline():
        pass
    for _ in range(3):
        os.killpg(run.pid, number)
        time.sleep(0.2)
    run.communicate(timeout=60)
    assert left(kernel) == (set(), [])


def test_a_pipe_that_nobody_reads_leaves_nothing(kernel):
    read, write = os.pipe()
    os.close(read)
    run = started(kernel, 1, write)
    os.close(write)
    run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGPIPE
    assert left(kernel) == (set(), [])


def test_a_pipe_that_nobody_reads_any_more_leaves_nothing(kernel):
    run = started(kernel, 1)
    assert run.stdout.readline()
    run.stdout.close()
    assert run.wait(60) in (0, 128 + signal.SIGPIPE)
    run.stderr.close()
    assert left(kernel) == (set(), [])


REFUSES = """say() {
	case $1 in
	%s) return 1 ;;
	esac
	echo "$1" >>kprobe_events
}
"""
"""A kernel that does not take such a probe."""


@pytest.mark.parametrize(
    ("refused", "left_of", "watched"),
    [
        ("none", "left=uarg->refcnt.refs.counter:u32", set(recording.SENDERS)),
        # The argument has another name; no BTF of arguments.
        ("*=uarg-\\>*", "left=ubuf_base->refcnt.refs.counter:u32", set(recording.SENDERS)),
        ("*-\\>*", "left=+8($arg2):u32", set(recording.SENDERS)),
        # BTF, and no such field in the struct: the offset would be another, too.
        ("*refcnt*", None, set()),
        ("*refcnt* | *=uarg-\\>*", None, set()),
    ],
)
def test_where_the_count_stands_is_asked_of_btf(kernel, monkeypatch, refused, left_of, watched):
    text = recording.SCRIPT.read_text()
    said = next(line for line in text.splitlines(keepends=True) if line.startswith("say()"))
    script = kernel / "record.sh"
    script.write_text(text.replace(said, REFUSES % refused))
    monkeypatch.setattr(recording, "SCRIPT", script)
    run = started(kernel, 1)
    complaints = run.communicate(timeout=60)[1]
    assert left(kernel) == (set(), [])
    probes = (kernel / "tracing/kprobe_events").read_text().splitlines()
    counts = {word for line in probes for word in line.split() if word.startswith("left=")}
    assert counts == ({left_of} if left_of else set())
    sizes = [line for line in probes if line.endswith("bytes=skb->data_len:u32")]
    assert len(sizes) == (refused != "*-\\>*")
    assert ("has no refcnt" in complaints) == (not watched)
    asked = {
        line.split("/")[1].split()[0]
        for line in probes
        if line.startswith("p:") and "left=" in line
    }
    assert asked == watched


def test_two_at_once_and_one_after_them_do_not_meet(kernel):
    runs = [started(kernel, 2), started(kernel, 2)]
    time.sleep(0.5)
    groups = {name for run in runs for name in [f"gso_{run.pid}"]}
    assert set(os.listdir(kernel / "tracing/instances")) <= groups
    runs.append(started(kernel, 1))
    assert [run.wait(60) for run in runs] == [0, 0, 0]
    assert left(kernel) == (set(), [])
