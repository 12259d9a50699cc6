"""Zero-copy sends, recorded as a reader records them on a kernel of their own."""

import subprocess
import time
from pathlib import Path

import traffic
from histograms import mount
from switches import turned

RECORDING = Path("/tmp/recording")


def run(params):
    """Yield the text of the recording, in pieces, and what the senders were told.

    `params` has the script to record with (`script`), how long (`seconds`), and `runs` as for
    `traffic.py`.
    """
    RECORDING.with_suffix(".sh").write_text(params["script"])
    mount()
    link = None
    for wanted in params["runs"]:
        if link != wanted["link"]:
            traffic.down(link)
            link = wanted["link"]
            traffic.up(link)
        with turned(wanted["switches"]), RECORDING.open("w") as file:
            recorder = subprocess.Popen(
                ["sh", RECORDING.with_suffix(".sh"), str(params["seconds"])], stdout=file
            )
            time.sleep(3)
            found = traffic.one(wanted)
            recorder.wait()
        yield found | {"text": RECORDING.read_text()}
