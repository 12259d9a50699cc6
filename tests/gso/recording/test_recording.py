"""Recordings of zero-copy packets: what they say, and what is no such recording."""

import subprocess

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lorelab.cli import cli
from lorelab.errors import BadInput
from lorelab.gso.recording import recording, report

HEAD = "# 6.12.117, skb_copy_ubufs, of 10 s\n# watches copied\n# watches done\n# watches vhost\n"
TASK = "        zerosend-123     [000] b.s2. 12.345678: "


def done(packet, sent, left, sends=1, zerocopy=1):
    return (
        f"{TASK}done: (msg_zerocopy_complete+0x0/0x60) packet=0x{packet:x} sent={sent} "
        f"left={left} sends={sends} zerocopy={zerocopy}\n"
    )


def vhost(packet, sent, left):
    where = "(vhost_zerocopy_complete+0x4/0xf0 [vhost_net])"
    return f"{TASK}vhost: {where} packet=0x{packet:x} sent={sent} left={left}\n"


def copied(size, *stack):
    frames = "".join(
        f" => {name}\n" for name in ("kprobe_ftrace_handler", "skb_copy_ubufs", *stack)
    )
    where = "(skb_copy_ubufs+0x0/0x5c0)"
    return f"{TASK}copied: {where} bytes={size}\n{TASK}<stack trace>\n{frames}"


TEXT = (
    HEAD
    # Of three segments and their head one was copied on a tap.
    + done(0xA0, 1, 4)
    + copied(1400, "dev_queue_xmit_nit", "dev_hard_start_xmit")
    + done(0xA0, 0, 3)
    + "          <idle>-0       [001] d.h1. 12.345679: sched_switch: other\n"
    + done(0xB0, 1, 2)
    + done(0xA0, 1, 2)
    + done(0xA0, 1, 1, zerocopy=0)
    + done(0xB0, 1, 1)
    # Its address comes again.
    + done(0xA0, 1, 1)
    # send() copied, and said so to nobody but its own bit; one that was aborted.
    + done(0xC0, 1, 1, zerocopy=0)
    + done(0xD0, 1, 1, sends=0)
    # Not all of it: its last completion was not recorded.
    + done(0xE0, 0, 2)
    + copied(56_000, "skb_segment", "__udp_gso_segment")
    + vhost(0xF0, 0, 1)
    + "# end\n"
)


@pytest.fixture
def file(tmp_path):
    def write(text):
        made = tmp_path / "trace.txt"
        made.write_text(text) if isinstance(text, str) else made.write_bytes(text)
        return made

    return write


def test_packets_and_places(file):
    found = report.summary(recording.read(file(TEXT)))
    told = found.set_index(["what", "where"])["value"]
    assert told["completed", "MSG_ZEROCOPY"] == 4
    assert told["copied after all", "MSG_ZEROCOPY"] == 2
    assert told["completions", "MSG_ZEROCOPY"] == 10
    assert told["completions that say copied", "MSG_ZEROCOPY"] == 2
    assert (told["completed", "vhost-net"], told["copied after all", "vhost-net"]) == (1, 1)
    assert told["copies", "skb_segment"] == told["copies", "dev_queue_xmit_nit"] == 1
    assert told["copied", "skb_segment"] == 56_000


def end(task=TASK):
    return f"{task}done_end: (skb_release_data+0x70/0x1e0 <- msg_zerocopy_complete)\n"


OTHER = TASK.replace("123     [000]", "124     [001]")
IDLE = [TASK.replace("123     [000]", f"0     [00{cpu}]") for cpu in (0, 1)]


def packets(file, text):
    found = report.summary(recording.read(file(HEAD + text + "# end\n")))
    told = found.set_index(["what", "where"])["value"]
    return told["completed", "MSG_ZEROCOPY"], told["copied after all", "MSG_ZEROCOPY"]


def on(task, text):
    return text.replace(TASK, task)


@pytest.mark.parametrize("other", [OTHER, IDLE[1]])
def test_two_cpus_that_read_the_same_count_complete_a_packet_once(file, other):
    first = TASK if other == OTHER else IDLE[0]
    both = on(first, done(0xA0, 0, 2)) + on(other, done(0xA0, 1, 2)) + end(first) + end(other)
    assert packets(file, both) == (1, 1)
    # Its address comes again, and nothing of it was copied.
    again = done(0xA0, 1, 2) + end() + done(0xA0, 1, 1) + end()
    assert packets(file, both + again) == (2, 1)


def test_references_that_are_taken_meanwhile_are_waited_for(file):
    first = done(0xA0, 1, 2) + end()
    clones = "".join(done(0xA0, sent, left) + end() for sent, left in ((1, 3), (0, 2), (1, 1)))
    assert packets(file, first + clones) == (1, 1)
    assert packets(file, first + clones.replace(end(), "")) == (1, 1)


def test_a_call_in_a_soft_interrupt_returns_first(file):
    text = done(0xA0, 1, 3) + done(0xB0, 0, 1) + end() + done(0xA0, 1, 3) + end() + end()
    assert packets(file, text) == (1, 1)
    assert packets(file, text + done(0xA0, 1, 1) + end()) == (2, 1)


def test_returns_that_the_kernel_missed_do_not_pile_up(file):
    missed = "".join(done(0xA0, 1, left) for left in (9, 8, 7, 6, 5, 4))
    # Five clones, more than calls that can be running on one CPU.
    rest = "".join(done(0xA0, 1, left) + end() for left in (8, 7, 6, 5, 4, 3, 2, 1))
    assert packets(file, missed + rest) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "sender"), [("uring", "io_uring"), ("packet", "AF_PACKET's ring")]
)
def test_other_senders_are_seen_or_said_to_be_unseen(file, kind, sender):
    text = vhost(0xF0, 0, 1).replace("vhost:", f"{kind}:")
    seen = HEAD + f"# watches {kind}\n" + text + "# end\n"
    found = report.summary(recording.read(file(seen))).set_index(["what", "where"])["value"]
    assert found["completed", sender] == found["copied after all", sender] == 1
    said = CliRunner().invoke(cli, ["gso", str(file(TEXT))])
    assert sender in said.stderr and "not watched: completions of" in said.stderr
    assert sender not in said.stdout


def test_what_one_function_copied_is_added_up(file):
    text = HEAD + copied(100, "a") + copied(20, "b") + copied(3, "a") + "# end\n"
    found = report.summary(recording.read(file(text))).set_index(["what", "where"])["value"]
    assert found["copies", "a"] == 2 and found["copied", "a"] == 103
    assert found["copies", "b"] == 1 and found["copied", "b"] == 20
    # One of the copies has no size, so no total is the whole.
    text = text.replace(" bytes=20", "")
    assert not (report.summary(recording.read(file(text)))["what"] == "copied").any()


def test_a_stack_is_that_of_the_copy_before_it(file):
    frames = f"{TASK}<stack trace>\n => other\n => caller\n"
    # Of another event; once more; without the call itself; and after a line of another event.
    text = HEAD + done(1, 1, 2) + frames + copied(1, "a") + frames
    text += f"{TASK}copied: (skb_copy_ubufs+0x0/0x5c0) bytes=2\n{frames}"
    text += copied(3) + done(1, 1, 1) + " => late\n# end\n"
    stacks = [event.stack for event in recording.read(file(text)).events]
    assert stacks == [(), ("a",), ("other", "caller"), (), ()]


def test_the_kernel_s_bit_is_the_lowest_of_its_field(file):
    text = HEAD + done(1, 1, 1, zerocopy=2) + done(2, 1, 1, zerocopy=3) + done(3, 1, 3)
    found = report.summary(recording.read(file(text + "# end\n")))
    values = found.set_index(["what", "where"])["value"]
    assert values["completed", "MSG_ZEROCOPY"] == 2
    assert values["copied after all", "MSG_ZEROCOPY"] == 1


def test_all_lost_events_are_counted(file):
    text = HEAD + "CPU:1 [LOST 7 EVENTS]\nCPU:0 [LOST 5 EVENTS]\n# end\n"
    assert recording.read(file(text)).lost == 12


def test_a_copy_without_its_size_or_stack(file):
    text = HEAD + TASK + "copied: (skb_copy_ubufs+0x0/0x5c0)\n# end\n"
    found = report.summary(recording.read(file(text)))
    assert found.query("what == 'copies'")["where"].tolist() == [report.UNKNOWN]
    assert not (found["what"] == "copied").any()


def test_what_is_not_watched_is_not_said_to_be_none(file):
    text = HEAD.replace("# watches vhost\n", "") + done(1, 1, 1) + "# end\n"
    assert "vhost-net" not in set(report.summary(recording.read(file(text)))["where"])


@pytest.mark.parametrize(("lost", "number"), [("LOST 7 EVENTS", 7), ("LOST EVENTS", 1)])
def test_lost_events_are_told(file, lost, number):
    text = HEAD + f"CPU:1 [{lost}]\n" + done(1, 1, 1) + "# end\n"
    said = CliRunner().invoke(cli, ["gso", str(file(text))])
    assert said.exit_code == 0
    assert f"lost {number} events or more" in said.stderr


CUT = "\u0440\u0430\u0431\u043e\u0447\u0438\u0439\u0439".encode()[:15]
FORMS = {
    "record-tgid": TEXT.replace("-123     [000]", "-123     (    120) [000]").encode(),
    "no tgid": TEXT.replace("-123     [000]", "-123     (-------) [000]").encode(),
    "latency-format": TEXT.replace("[000] b.s2. 12.345678: ", "   0b.s2. 1234us+: ").encode(),
    "latency-format, no mark": TEXT.replace("[000] b.s2. 12.345678: ", "  0b.s2.  7us : ").encode(),
    "a clock that counts": TEXT.replace("12.345678: ", "     4711: ").encode(),
    "both": TEXT.replace("[000] b.s2. 12.345678: ", "   0b.s2. 4711: ").encode(),
    "blank lines at the end": TEXT.encode() + b"\n \n",
    "in a report": f"I ran\n```\n{TEXT}```\nand 2 packets\n".encode(),
    "quoted in a report": "".join(f"> {line}\n" for line in TEXT.splitlines()).encode() + b"Yes\n",
    "blanks at the end of lines": TEXT.replace("\n", "  \n").encode(),
    "two blanks before an event": TEXT.replace(": done: ", ":  done: ").encode(),
    "carriage returns alone": TEXT.replace("\n", "\r").encode(),
    "indented": "".join(f"    {line}\n" for line in TEXT.splitlines()).encode(),
    "indented with a tab, and blank lines": ("\t" + TEXT.replace("\n", "\n\t") + "\n\n").encode(),
    "quoted": "".join(f"> > {line}\n" for line in TEXT.splitlines()).encode(),
    "quoted with bars": "".join(f"| {line}\n" for line in TEXT.splitlines()).encode(),
    "carriage returns": TEXT.replace("\n", "\r\n").encode(),
    "a byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "a name cut in a character": TEXT.encode().replace(b"zerosend", CUT),
    "a name of blanks": TEXT.replace("zerosend", " " * 8).encode(),
    "a name that ends its line": TEXT.replace("zerosend", "zero\n").encode(),
    "a name that is hard to read": TEXT.encode().replace(b"zerosend", b"a [0] (1) 2: 3-4"),
}


@pytest.mark.parametrize("form", FORMS)
def test_no_option_name_or_editor_changes_the_counts(file, form):
    usual = report.summary(recording.read(file(TEXT)))
    found = report.summary(recording.read(file(FORMS[form])))
    assert found.equals(usual)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no recording"),
        ("hello\n", "is no recording"),
        (b"\xff\xfe\x00trace.dat", "is not text"),
        (TEXT.removesuffix("# end\n"), "was cut off"),
        (TEXT[: len(TEXT) // 2], "was cut off"),
        (TEXT.removesuffix("# end\n") + TEXT, "has 2 recordings"),
        (TEXT + TEXT, "has 2 recordings; give each its own file"),
        (HEAD + TASK + "done: nothing\n# end\n", "line 5: no event"),
        (HEAD + done(1, 1, 1).replace("left=1", "left=one") + "# end\n", "left=one is no number"),
        (HEAD + done(1, 1, 1).replace(" left=1", "") + "# end\n", "done lacks left"),
    ],
)
def test_what_is_no_recording_says_so_in_one_line(file, text, said):
    with pytest.raises(BadInput, match=said) as complaint:
        recording.read(file(text))
    assert "\n" not in str(complaint.value)


@pytest.mark.parametrize("release", ["6.0.19-amd64", "5.15.0", "4.19.1"])
def test_a_kernel_with_other_offsets_is_refused(file, release):
    with pytest.raises(BadInput, match=f"recorded on {release}.*takes 6.1 or later"):
        recording.read(file(TEXT.replace("6.12.117", release)))


@pytest.mark.parametrize("release", ["6.1.0-50-amd64", "6.10.1", "7.3.4+deb13-amd64"])
def test_a_later_kernel_is_read(file, release):
    assert recording.read(file(TEXT.replace("6.12.117", release))).events


@pytest.mark.parametrize(
    ("release", "taken"),
    [("6.0.19", False), ("6.0", False), ("6.0-rc1", False), ("5.15.1", False), ("6.1.0", True)],
)
def test_the_script_refuses_a_kernel_with_other_offsets(tmp_path, release, taken):
    uname = tmp_path / "uname"
    uname.write_text(f"#!/bin/sh\necho {release}\n")
    uname.chmod(0o755)
    # The script's own check, cut off before it writes to the tracing folder.
    text = recording.SCRIPT.read_text().replace("cd /sys/kernel/tracing || exit 1", "")
    script = text[: text.index("group=")]
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", script], env=env, capture_output=True, text=True)
    assert (done.returncode == 0) == taken
    assert ("takes 6.1 or later" in done.stderr) == (not taken)


def test_no_file(tmp_path):
    with pytest.raises(BadInput, match="cannot read"):
        recording.read(tmp_path / "none")


@given(st.text(), st.integers(0, len(TEXT)))
def test_hostile_text_is_read_or_refused(tmp_path_factory, junk, at):
    made = tmp_path_factory.mktemp("hostile") / "trace.txt"
    made.write_text(TEXT[:at] + junk + TEXT[at:], errors="surrogatepass")
    try:
        report.summary(recording.read(made))
    except BadInput as error:
        assert "\n" not in str(error)


def test_the_door(file):
    run = CliRunner().invoke
    said = run(cli, ["gso", str(file(TEXT))])
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[0] == "what,where,value,unit"
    assert run(cli, ["gso", "--script"]).stdout == recording.SCRIPT.read_text()
    assert isinstance(run(cli, ["gso"]).exception, BadInput)
    assert isinstance(run(cli, ["gso", "--script", str(file(TEXT))]).exception, BadInput)
