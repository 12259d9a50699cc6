"""The browser of a file's tests."""

import pytest

from tests.browser.pages import chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found
