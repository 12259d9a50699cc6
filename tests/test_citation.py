"""CITATION.cff says what pyproject.toml says."""

import tomllib

import yaml

from lorelab.book.build import ROOT


def test_the_citation_is_of_this_version_and_license():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
    assert cited["authors"] and cited["title"].startswith(project["name"])
