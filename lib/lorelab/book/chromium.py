"""PDFs by Chromium, which is asked over its DevTools; no page gets anything from the network."""

import shutil
from pathlib import Path

from lorelab import atomic
from lorelab.errors import RunFailed
from lorelab.lab import needs
from lorelab.progress import track

FLAGS = ("--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND")
PATIENCE = 120_000
"""Milliseconds for a page to be ready."""


def executable(purpose: str) -> str:
    """Where Chromium is.

    Parameters
    ----------
    purpose : str
        What it is needed for: "makes the PDFs".

    Raises
    ------
    RunFailed
        There is none; the text has the command that gets it.
    """
    path = shutil.which("chromium")
    if path is None:
        how = needs.command(needs.PRINT, needs.system())
        raise RunFailed(f"no chromium, which {purpose}; {how}")
    return path


def print_(addresses: dict[Path, str], ready: str) -> list[Path]:
    """Print pages to PDF files.

    Parameters
    ----------
    addresses : dict
        Address of a page (file:) by the file that is written, whole or not at all.
    ready : str
        JavaScript that is true once a page can be printed.

    Raises
    ------
    RunFailed
        There is no Chromium, or a page is not ready in time.
    """
    from playwright.sync_api import Error, sync_playwright

    path = executable("makes the PDFs")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for file, address in track(list(addresses.items()), "printing"):
            page = browser.new_page()
            try:
                page.goto(address)
                page.wait_for_function(ready, timeout=PATIENCE)
                atomic.write(file, page.pdf(prefer_css_page_size=True, print_background=True))
            except Error as error:
                raise RunFailed(
                    f"{address}: not printed: {error.message.splitlines()[0]}"
                ) from None
            finally:
                page.close()
        browser.close()
    return list(addresses)
