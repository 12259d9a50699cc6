"""The folder that is sent: mails with recipients and numbers, and what shows the defect."""

import email
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lorelab.book.dialect import dialect_words
from lorelab.errors import BadInput
from lorelab.gso.pages import views
from lorelab.judging import upstream
from lorelab.judging.findings import findings
from lorelab.judging.reproduced import recorded
from lorelab.lab import recipes
from lorelab.lab.records import Provenance
from lorelab.lab.source import is_cover, is_selftest, is_stable, is_test
from tests import lacking

WITHHELD = "vmalock/taken-for-marked"
ASKED_FIRST = "swap/frag-list-searched-whole"
"""A fix of performance: its author is asked in his thread, and stable series are not."""
PLACE = "[ UPSTREAM MESSAGE ]"
CC_STABLE = re.compile(r"^Cc: <stable@vger\.kernel\.org> # \d\.\d+\.x$", re.MULTILINE)
FOUND = {one.title: one for one in findings()}
SENT = [title for title in FOUND if upstream.patches(title)]


def quick(title):
    """A finding whose effect is not computed."""
    return replace(FOUND[title], effect=lambda: "42 of 64 (6.12.117, n = 3)")


def test_each_kit_belongs_to_a_finding_that_is_worth_sending():
    kits = set(upstream.kits())
    assert kits == set(SENT)
    assert all(FOUND[title].worth_sending for title in SENT)


@pytest.mark.parametrize("title", SENT)
def test_a_folder_is_ready_for_git_send_email(title, tmp_path):
    written = upstream.write(quick(title), tmp_path / "out")
    mails = [file for file in written if file.suffix == ".patch"]
    assert mails[0].name[:4] == ("0000" if len(mails) > 1 else "0001")
    for file in mails:
        mail = email.message_from_string(file.read_text())
        if mail["From"] != upstream.SENDER:  # the author of a commit that is picked for stable
            assert re.search(r"^commit \w{40} upstream\.$", file.read_text(), re.MULTILINE)
            assert f"\nSigned-off-by: {mail['From']}\n" in file.read_text()
        assert mail.get_all("To") and "linux-kernel@vger.kernel.org" in mail.get_all("Cc")
        if not is_cover(file):
            signed = f"Assisted-by: LLM\nSigned-off-by: {upstream.SENDER}\n---\n"
            assert file.read_text().count(signed) == 1
    text = mails[0].read_text()
    assert text.index("\n---\n") < text.index("Measured: 42 of 64 (6.12.117, n = 3)")
    assert "Known: " in text and "In mainline: " in text
    readme = (tmp_path / "out" / "README").read_text()
    assert f"git send-email {' '.join(f'{file.name[:4]}-*.patch' for file in mails)}\n" in readme
    places = "".join(file.read_text() for file in mails)
    assert "YOUR NAME" in places and "-e 'YOUR NAME' -e 'UPSTREAM MESSAGE' *.patch &&\n" in readme
    stable = is_stable(mails[-1])
    assert ("whom MAINTAINERS of 7.3.4 names" in " ".join(readme.split())) is stable
    assert ("get_maintainer.pl says of the source above" in " ".join(readme.split())) is not stable
    asked = title == ASKED_FIRST
    assert (upstream.STABLE in email.message_from_string(text).get_all("To")) is (stable > asked)
    assert (f"{upstream.STABLE}, and whom" in " ".join(readme.split())) is (stable > asked)
    assert ("\nIn-Reply-To: <" in text) is asked
    assert ("6.12.117 warns of each Assisted-by" in " ".join(readme.split())) is stable
    said = re.search(r"`commit (\w{12})\.\.\. upstream\.`", " ".join(readme.split()))
    text = mails[-1].read_text()
    picked = re.search(r"^commit (\w{12})\w{28} upstream\.$", text, re.MULTILINE)
    assert (said and said[1]) == (picked and picked[1])


@pytest.mark.parametrize("title", SENT)
def test_a_folder_begins_with_what_is_missing(title, tmp_path):
    upstream.write(quick(title), tmp_path / "out")
    begins = (tmp_path / "out" / "README").read_text().split("\n\n")[0]
    missing = FOUND[title].not_ready
    said = f"NOT READY TO BE SENT: {missing}." if missing else f"{title}: {FOUND[title].defect}"
    assert " ".join(begins.split()) == said


def test_what_fixes_the_same_hint_is_for_one_tree():
    kits = ("gso/lost-copied-flag", "gso/one-word-for-many")
    texts = [upstream.mail(mail) for kit in kits for mail in upstream.patches(kit)]
    subject = re.compile(r"^Subject: \[PATCH (\S+?)(?: \d/\d)?\]", re.MULTILINE)
    assert {subject.search(text)[1] for text in texts} == {"net"}


@pytest.mark.parametrize("title", SENT)
def test_a_mail_says_what_is_for_stable_series_and_what_tests_it(title, tmp_path):
    upstream.write(quick(title), tmp_path / "out")
    first = sorted((tmp_path / "out").glob("000*.patch"))[0].read_text()
    below = first.split("\n---\n")[1]
    assert "\n\nStable: " in below and "\n\nTests: " in below
    readme = " ".join((tmp_path / "out" / "README").read_text().split())
    for advice in upstream.text_of(title, "advice").split("\n\n"):
        words = " ".join(advice.split())
        assert words in readme and not (words and words in " ".join(first.split()))
    marked = [file for file in (tmp_path / "out").glob("*.patch") if PLACE in file.read_text()]
    assert bool(marked) == (f'"{PLACE}" marks' in readme), "who sends it is told of the place"


@pytest.mark.parametrize("title", [title for title in SENT if title.startswith("gso/")])
def test_a_mail_says_what_else_a_kernel_with_its_patch_had(title):
    notes = " ".join(upstream.text_of(title, "notes").split())
    for one in recorded(title):
        for other in one.others if one.patched else ():
            others = [mail for mail in upstream.patches(other) if not is_cover(mail)]
            for file in [mail for mail in others if not is_selftest(mail)]:
                subject = email.message_from_string(upstream.mail(file))["Subject"]
                assert " ".join(subject.partition("] ")[2].split()) in notes


@pytest.mark.parametrize("title", SENT)
def test_what_its_notes_give_to_stable_series_is_marked_so(title):
    noted = upstream.text_of(title, "notes").partition("Stable: ")[2].startswith("Cc: stable")
    marked = [file for file in upstream.patches(title) if CC_STABLE.search(upstream.mail(file))]
    assert bool(marked) == noted


@pytest.mark.parametrize("title", SENT)
def test_other_words_are_of_the_same_diff_and_series(title):
    for file in upstream.patches(title):
        sent = upstream.mail(file)
        assert sent.partition("\n---\n")[2] == file.read_text().partition("\n---\n")[2]
        assert file.with_suffix(".message").exists() or sent == file.read_text()
        subject = r"^Subject: (\[(?:RFC )?PATCH[^]]*y)?"
        series = [re.search(subject, text, re.MULTILINE)[1] for text in (sent, file.read_text())]
        assert series[0] == series[1]
        assert not list(dialect_words(sent.partition("\ndiff --git")[0]))


@pytest.mark.parametrize("title", SENT)
def test_a_patch_names_the_commit_that_it_fixes_or_the_one_that_it_brings(title):
    for file in upstream.patches(title):
        if not is_cover(file) and not is_test(file):
            words = upstream.mail(file).partition("\n---\n")[0]
            picked = re.search(r"^commit \w{40} upstream\.$", words, re.MULTILINE)
            assert picked or re.search(r'^Fixes: \w{12} \("[^"\n]+"\)$', words, re.MULTILINE)


def test_what_a_user_can_trigger_comes_without_a_reproducer(tmp_path):
    upstream.write(quick(WITHHELD), tmp_path / "out")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {name for name in names if not name.endswith(".patch")} == {"README", "kernel.config"}
    assert {title for title in SENT if not upstream.reproducer(title)} == {WITHHELD}
    readme = (tmp_path / "out" / "README").read_text()
    assert "boot.sh" not in readme and readme.count("| patch -p1") == 1


def test_who_signs_is_whom_git_knows_and_else_nobody(tmp_path):
    """An empty name is signed by nobody, and git send-email would take it."""
    if not shutil.which("git"):
        lacking("no git")
    upstream.write(quick(SENT[0]), tmp_path / "out")
    typed = (tmp_path / "out" / "README").read_text().split("2. SEND IT")[1]
    lines = [line.strip() for line in typed.splitlines() if line.startswith("    ")]
    lines = [line for line in lines if "git config" in line]
    home = {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    [mail] = (tmp_path / "out").glob("0001-*.patch")

    def sign():
        shell = ["sh", "-c", "\n".join(lines)]
        subprocess.run(shell, cwd=tmp_path / "out", env=home, capture_output=True)
        return re.findall("^Signed-off-by: (.*)$", mail.read_text(), re.MULTILINE)

    assert sign()[-1:] == [upstream.SENDER]
    (tmp_path / ".gitconfig").write_text("[user]\nname = Ada L\nemail = ada@example.com\n")
    assert sign()[-1:] == ["Ada L <ada@example.com>"]


@pytest.mark.parametrize("title", SENT)
def test_what_is_said_below_the_line_does_not_disturb_the_diff(title, tmp_path):
    for file in upstream.write(quick(title), tmp_path / "out"):
        if file.suffix == ".patch" and not is_cover(file):
            plain = upstream.kit(title) / file.name
            numstat = ["git", "apply", "--numstat"]
            mine, theirs = (
                subprocess.run([*numstat, str(one)], capture_output=True, text=True, check=True)
                for one in (file, plain)
            )
            assert mine.stdout == theirs.stdout != ""


@pytest.mark.parametrize("title", [title for title in SENT if title != WITHHELD])
def test_whoever_types_what_the_folder_says_boots_without_all_patches_and_with_them(
    title, tmp_path
):
    upstream.write(quick(title), tmp_path / "out")
    typed = (tmp_path / "out" / "README").read_text().split("2. SEND IT")[0]
    before, after = typed.split("The reproducer's last line begins with FAIL.")
    assert (before.count("boot.sh"), after.count("boot.sh")) == (1, 1)
    applied = [re.findall(r"\$KIT/(\d{4})-\*\.patch", part) for part in (before, after)]
    mails = [mail for mail in upstream.patches(title) if not is_cover(mail)]
    assert sorted([*applied[0], *applied[1]]) == [mail.name[:4] for mail in mails]
    assert applied[0] == [mail.name[:4] for mail in mails if is_test(mail)]
    assert upstream.SOURCES[is_stable(mails[-1])][0] in before


def test_folders_were_tried_alone_and_say_what_was_seen(tmp_path):
    tried = {title: upstream.trial(title) for title in SENT if upstream.trial(title)}
    assert len(tried) >= 3
    for title, alone in tried.items():
        assert (alone.before[-1][:4], alone.after[-1][:4]) == ("FAIL", "PASS")
        assert re.match(r"\d{4}-\d\d-\d\d: linux-source-", alone.where)
        upstream.write(quick(title), tmp_path / title)
        readme = (tmp_path / title / "README").read_text()
        assert all(f"    {line}\n" in readme for line in (*alone.before, *alone.after))
        first = sorted((tmp_path / title).glob("000*.patch"))[0].read_text()
        assert f"Without: {alone.before[-1]}. With: {alone.after[-1]}" in " ".join(first.split())


@pytest.mark.parametrize("title", SENT)
def test_a_folder_has_the_config_of_the_kernels_that_it_was_seen_on(title, tmp_path):
    upstream.write(quick(title), tmp_path / "out")
    options = recipes.settings(tmp_path / "out" / "kernel.config")
    design, config = FOUND[title].design, FOUND[title].config
    own = upstream.kit(title) / "kernel.config"
    less = recipes.settings(own) if own.exists() else {}
    assert less.items() <= options.items()
    less |= recipes.settings(upstream.COMMON / "kernel.config")
    seen_on = recipes.settings(recipes.fragments(design, config)[-1])
    assert {name: value for name, value in seen_on.items() if name not in less}.items() <= (
        options.items()
    )
    kernels = [one.source.kernel for one in recorded(title) if isinstance(one.source, Provenance)]
    assert {kernel.config for kernel in kernels if kernel.release == "7.3.4"} <= {config}
    assert options["CONFIG_9P_FS"] == "y" and options["CONFIG_DEBUG_INFO_BTF"] == "n"


@pytest.mark.parametrize("title", SENT)
def test_a_reproducer_needs_nothing_and_is_short(title):
    if shown := upstream.reproducer(title):
        text = shown.read_text()
        assert "lorelab" not in text and "PASS" in text and "FAIL" in text
        assert text.count("\n") < 60


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(BadInput, match="is not empty; give a new folder"):
        upstream.write(quick(SENT[0]), tmp_path)
    with pytest.raises(BadInput, match="is a file, or below one"):
        upstream.write(quick(SENT[0]), tmp_path / "mine")
    with pytest.raises(BadInput, match="/proc/none: No such file or directory; give another"):
        upstream.write(quick(SENT[0]), Path("/proc/none"))
    assert (tmp_path / "mine").read_text() == "kept"


def test_what_cannot_be_computed_leaves_no_folder(tmp_path):
    def refuse():
        raise BadInput("no record")

    with pytest.raises(BadInput, match="no record"):
        upstream.write(replace(quick(SENT[0]), effect=refuse), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_an_image_boot_sh_says_what_it_takes(tmp_path):
    for given in ([], [str(tmp_path / "none")]):
        shell = ["sh", str(upstream.COMMON / "boot.sh"), *given]
        done = subprocess.run(shell, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"usage: sh \S+ arch/x86/boot/bzImage \[CPUS\]\n", done.stderr)


def test_a_finding_without_a_patch_says_what_would_mend_it(tmp_path):
    one = next(one for title, one in FOUND.items() if title not in SENT)
    with pytest.raises(BadInput, match="has no patch to send; what would fix it"):
        upstream.write(one, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_a_mail_says_of_the_lost_flag_was_recorded():
    [mail] = upstream.patches("gso/lost-copied-flag")
    text = " ".join(upstream.mail(mail).split("\n---\n")[0].split())
    said = re.search(r"of (\d+) copies on the other CPU (\d+) are not reported, and of (\d+)", text)
    other, lost, same = map(int, said.groups())
    seen = views.lost_flags().query("kernel.str.startswith('6.18.44')").set_index("copier")
    assert (seen["copies"].tolist(), seen["not_told"].tolist()) == ([same, other], [0, lost])
    said = re.search(r"7.3.4 does not report (\d+) of (\d+) copies, and with this change 0", text)
    guest = views.lost_flags().query("kernel == '7.3.4' and copier == 1").iloc[0]
    assert tuple(map(int, said.groups())) == (guest["not_told"], guest["copies"])
    note = FOUND["gso/lost-copied-flag"].note
    assert f"{guest['not_told']} of {guest['copies']} packets were lost" in note


def test_what_a_mail_says_of_regions_beside_another_kdamond_was_recorded():
    first = upstream.patches("damon/shared-last-count")[1]
    said = [int(kib) for kib in re.findall(r"(\d+) KiB", upstream.mail(first))]
    runs = [
        one.text
        for one in recorded("damon/shared-last-count")
        if one.source.kernel.release == "7.3.4"
    ]
    count = r"count: (\d+) KiB alone, (\d+) KiB beside"
    assert said == [int(kib) for text in runs for kib in re.search(count, text).groups()]


@pytest.mark.parametrize("title", [title for title in SENT if ", booted in" in FOUND[title].fix])
def test_what_was_booted_without_and_with_the_patches_was_recorded(title):
    release = re.search(r", booted in (\S+) without (?:it|them) and with", FOUND[title].fix)[1]
    said = [one for one in recorded(title) if one.source.kernel.release == release]
    assert {(one.patched, one.verdict[:4]) for one in said} == {(False, "FAIL"), (True, "PASS")}
