"""environment.yml, requirements.lock and what is installed say the same, in every direction."""

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FROM_THE_VENV = {"pip", "lorelab"}
"""Installed, but not locked: pip comes with `python -m venv`, lorelab is this checkout."""


def listed() -> dict[str, Requirement]:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = (part["pip"] for part in environment["dependencies"] if isinstance(part, dict))
    return by_name(pip)


def locked() -> dict[str, Requirement]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return by_name(line.rstrip(" \\") for line in lines if line and line[0] not in " #")


def installed() -> dict[str, metadata.Distribution]:
    return {canonicalize_name(found.name): found for found in metadata.distributions()}


def by_name(texts) -> dict[str, Requirement]:
    found = [Requirement(text) for text in texts]
    names = {canonicalize_name(one.name): one for one in found}
    assert len(names) == len(found), "a package is named twice"
    return names


def wanted_here(requirement: Requirement, extras=("",)) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def version(requirement: Requirement) -> str:
    (pin,) = requirement.specifier
    assert pin.operator == "=="
    return pin.version


def needed(name: str, here: dict[str, metadata.Distribution]) -> set[str]:
    """All that `name` needs, directly or not, by what the installed packages declare."""
    todo = [(name, frozenset([""]))]
    seen = set()
    while todo:
        name, extras = todo.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        for requirement in map(Requirement, here[name].requires or []):
            if wanted_here(requirement, extras):
                asked = frozenset(["", *requirement.extras])
                todo.append((canonicalize_name(requirement.name), asked))
    return {name for name, _ in seen}


def test_every_listed_package_is_locked_at_a_version_the_list_allows():
    lock = locked()
    for name, requirement in listed().items():
        assert name in lock, f"{name} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(version(lock[name])), name


def test_the_lock_calls_direct_what_the_list_names_and_nothing_else():
    text = (ROOT / "requirements.lock").read_text()
    direct = {
        canonicalize_name(re.match(r"[\w.-]+", entry)[0])
        for entry in re.split(r"\n(?=\w)", text)
        if re.search(r"^ +# +(via )?-r build/direct.in$", entry, flags=re.MULTILINE)
    }
    assert direct == set(listed())


def test_what_is_locked_is_installed_and_the_other_way_round():
    pins = {name: version(one) for name, one in locked().items() if wanted_here(one)}
    here = {name: found.version for name, found in installed().items()}
    assert {name: here[name] for name in here if name not in FROM_THE_VENV} == pins


def test_nothing_is_installed_that_the_list_does_not_need():
    here = installed()
    needs = set().union(*(needed(name, here) for name in listed()))
    assert set(here) - FROM_THE_VENV == needs


def test_what_the_code_imports_is_listed():
    names = set(listed())
    providers = metadata.packages_distributions()
    for file in [*(ROOT / "lib/lorelab").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for module in imported(file) - sys.stdlib_module_names - {"lorelab"}:
            given = {canonicalize_name(name) for name in providers.get(module, [])}
            assert given & names, f"{file.relative_to(ROOT)} imports {module}, which is not listed"


def imported(file: Path) -> set[str]:
    """Top-level modules that `file` imports, without the checkout's own."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.split(".")[0])
    folders = (file.parent, ROOT / "tests", ROOT)
    return found - {path.stem for folder in folders for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("tools", "chosen"),
    [
        ((), "pip"),
        (("uv",), "uv"),
        (("uv", "conda"), "conda"),
        (("conda", "mamba", "uv"), "mamba"),
        (("conda", "mamba", "micromamba", "uv"), "micromamba"),
    ],
)
def test_make_takes_the_first_installer_there_is(tmp_path, tools, chosen):
    for tool in ("make", "sh"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    for tool in tools:
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o755)
    shown = make(tmp_path, "--dry-run", "--always-make", "env")
    assert shown.returncode == 0, shown.stderr
    assert f"venv-{chosen}" in shown.stdout


@pytest.mark.parametrize(
    ("lacks", "hint"),
    [("version_info", "PYTHON=python3.12"), ("ensurepip", "apt-get install python3-venv")],
)
def test_a_python_that_will_not_do_gets_one_line(checkout, lacks, hint):
    python = checkout / "python3"
    python.write_text(f'#!/bin/sh\ncase "$*" in *{lacks}*) exit 1;; esac\n')
    python.chmod(0o755)
    shown = make("/usr/bin:/bin", f"PYTHON={python}", "INSTALLER=pip", "env", cwd=checkout)
    assert shown.returncode == 2
    assert (checkout / ".venv/kept").exists(), "the old one goes only where a new one can come"
    complaint = [line for line in shown.stderr.splitlines() if line.startswith("make env:")]
    assert len(complaint) == 1
    assert hint in complaint[0]


def test_a_python_that_will_not_do_is_not_given_to_uv_either(checkout):
    for name, does in (("uv", 'echo "$0-s python"'), ("uv-s python", "exit 1")):
        (checkout / name).write_text(f"#!/bin/sh\n{does}\n")
        (checkout / name).chmod(0o755)
    path = f"{checkout}:/usr/bin:/bin"
    shown = make(path, "PYTHON=3.14", "INSTALLER=uv", "env", cwd=checkout)
    assert shown.returncode == 2
    assert "make env: 3.14 is not Python 3.11 or 3.12" in shown.stderr
    assert (checkout / ".venv/kept").exists()


def test_where_uv_can_not_fetch_a_python_the_old_environment_stays(checkout):
    (checkout / "uv").write_text('#!/bin/sh\necho "uv: no network for $*" >&2\nexit 2\n')
    (checkout / "uv").chmod(0o755)
    shown = make(f"{checkout}:/usr/bin:/bin", "env", cwd=checkout)
    assert shown.returncode == 2
    assert "--python >=3.11,<3.13" in shown.stderr
    assert "uv finds no Python 3.11 or 3.12, and can't fetch one" in shown.stderr
    assert (checkout / ".venv/kept").exists()


CONDA = """
import sys, venv
*_, prefix, override, channel, name, python, pip = words = sys.argv[1:]
assert words[:4] == ["create", "--yes", "--quiet", "--prefix"], words
assert (override, channel, name) == ("--override-channels", "--channel", "conda-forge"), words
assert (python, pip) == ("python>=3.11,<3.13", "pip"), words
venv.create(prefix, with_pip=True)
"""


def test_in_a_path_with_blanks_the_environment_is_where_it_belongs(tmp_path, checkout):
    """A venv stands here for what conda makes; nothing is locked, so that pip has no work."""
    there = tmp_path / "a path with blanks"
    there.mkdir()
    shutil.copy(checkout / "Makefile", there)
    (there / "requirements.lock").write_text("# nothing\n")
    (tmp_path / "conda.py").write_text(CONDA)
    program = f'exec "{sys.executable}" "{tmp_path}/conda.py" "$@"\n'
    (there / "conda").write_text(f"#!/bin/sh\n{program}")
    (there / "conda").chmod(0o755)
    shown = make(f"{there}:/usr/bin:/bin", ".venv/locked", cwd=there)
    assert shown.returncode == 0, shown.stderr
    assert (there / ".venv/bin/python").exists() and (there / ".venv/locked").exists()
    assert {path.name for path in there.iterdir()} == {
        "Makefile", "requirements.lock", "conda", ".venv"
    }  # fmt: skip


def test_an_installer_that_there_is_not_removes_nothing(checkout):
    assert make("/usr/bin:/bin", "INSTALLER=pipx", "env", cwd=checkout).returncode == 2
    assert (checkout / ".venv/kept").exists()


@pytest.fixture
def checkout(tmp_path):
    """What `make env` needs of this one, with an environment."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/kept").touch()
    return tmp_path


@pytest.mark.parametrize("installer", ["pip", "conda", "mamba", "micromamba"])
def test_no_setting_of_the_users_pip_leads_out_of_the_environment(tmp_path, installer):
    """PIP_USER=1 and `user` or `prefix` in pip.conf gave an error, or a package elsewhere."""
    (tmp_path / "sh").symlink_to(shutil.which("sh"))
    shown = make(tmp_path, "--dry-run", "--always-make", f"INSTALLER={installer}", "env")
    installs = [line for line in shown.stdout.splitlines() if " pip install " in line]
    assert len(installs) == 2
    for line in installs:
        assert f" --no-user --prefix '{ROOT}/.venv' --target= " in line
    assert f"--prefix {ROOT}" not in shown.stdout, "a path with a blank needs its quotes"


def make(path: Path | str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    return subprocess.run(
        [shutil.which("make"), "--no-print-directory", *arguments],
        cwd=cwd,
        env={"PATH": str(path), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
    )
