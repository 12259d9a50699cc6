"""Files that texts name are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"\b(?:lib/(?:kernel|lorelab)|data/(?:kernel|threads|recordings))/[\w./-]*\w")
TEXTS = sorted(
    file
    for folder in ("lib", "bench", "data", "book", "notebooks")
    for file in (ROOT / folder).rglob("*")
    if file.suffix in {".py", ".md", ".c", ".h", ".config", ".mk", ".yml", ".ipynb"}
)


def test_each_path_leads_somewhere():
    missing = []
    for file in (ROOT / "README.md", *TEXTS):
        for path in NAMED.findall(file.read_text()):
            # DESIGN, QUESTION and the like stand for a name.
            if re.search(r"\b[A-Z]+\b", path.replace("README", "readme")):
                continue
            if not (ROOT / path).exists():
                missing.append(f"{file.relative_to(ROOT)}: {path}")
    assert len(TEXTS) > 400 and missing == []
