"""Firefox without a window, driven by its own Marionette protocol: no driver is in Debian."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import lacking

PATIENCE = 120
"""Seconds for Firefox to come up, or for a script to end."""
QUIET = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",  # nothing listens there
    "network.proxy.http_port": 9,
    "network.proxy.share_proxy_settings": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
"""Preferences of a profile that asks nobody for anything."""


class Firefox:
    """A session: a command and its answer, each a line of JSON behind its length."""

    def __init__(self, port: int):
        self.stream = socket.create_connection(("127.0.0.1", port), PATIENCE).makefile("rwb")
        self.number = 0
        self._read()  # who it is
        session = self.command("WebDriver:NewSession", {"capabilities": {}})
        self.version = session["capabilities"]["browserVersion"]
        self.command("WebDriver:SetTimeouts", {"script": 1000 * PATIENCE})

    def command(self, name: str, parameters: dict[str, Any]) -> Any:
        """What Firefox answers; AssertionError if it is an error."""
        self.number += 1
        text = json.dumps([0, self.number, name, parameters]).encode()
        self.stream.write(b"%d:%s" % (len(text), text))
        self.stream.flush()
        _, _, error, answer = self._read()
        assert error is None, error
        return answer

    def goto(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self.command("WebDriver:Navigate", {"url": address})

    def evaluate(self, function: str, *arguments: object) -> Any:
        """What an asynchronous function of the page gives, or `{"error": message}`."""
        script = (
            f"const done = arguments[arguments.length - 1];"
            f"({function})(...[...arguments].slice(0, -1))"
            ".then(done, error => done({error: error.message}));"
        )
        asked = {"script": script, "args": list(arguments), "sandbox": None}
        return self.command("WebDriver:ExecuteAsyncScript", asked)["value"]

    def _read(self) -> Any:
        size = b""
        while (digit := self.stream.read(1)) != b":":
            assert digit, "Firefox has gone"
            size += digit
        return json.loads(self.stream.read(int(size)))


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Firefox with a new profile in `folder`; the test is skipped where it is not installed."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        lacking("no Firefox; as root: apt-get install firefox-esr")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = QUIET | {"marionette.port": port}
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in quiet.items()
    ]
    (folder / "user.js").write_text("\n".join(lines))
    command = [found, "--headless", "--marionette", "--no-remote", "--profile", folder]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            yield _session(port)
        finally:
            running.kill()


def _session(port: int) -> Firefox:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Firefox(port)
        except ConnectionRefusedError:
            assert time.monotonic() < until, f"Firefox is not up after {PATIENCE} s"
            time.sleep(0.2)
