"""Files that texts name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"\b(?:lib/(?:kernel|lorelab)|data/(?:kernel|threads|recordings))/[\w./-]*\w")
TEXTS = sorted(
    file
    for folder in ("lib", "bench", "data", "book", "notebooks")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in {".py", ".md", ".c", ".h", ".config", ".mk", ".yml", ".ipynb"}
)


@pytest.mark.parametrize(
    "file", [ROOT / "README.md", *TEXTS], ids=lambda f: str(f.relative_to(ROOT))
)
def test_a_path_leads_somewhere(file):
    for path in NAMED.findall(file.read_text()):
        # DESIGN, QUESTION and the like stand for a name.
        if re.search(r"\b[A-Z]+\b", path.replace("README", "readme")):
            continue
        assert (ROOT / path).exists(), path
