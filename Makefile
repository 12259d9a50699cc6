# env book talk test test-all lab lab-ui record bench lint, and for maintainers lock, outputs and
# mutants; see README.md.

PYTHON ?= python3
# Who makes .venv: the first of these that is there, unless told (make env INSTALLER=pip).
INSTALLER ?= $(firstword $(foreach tool,micromamba mamba conda uv,\
	$(if $(shell command -v $(tool)),$(tool))) pip)
run := .venv/bin/python -m
# Into .venv, whatever PIP_USER or the user's pip.conf says.
pip := $(run) pip install --quiet --no-user --prefix '$(CURDIR)/.venv' --target= --no-deps
within := >=3.11,<3.13

# Where it is set (as in images of containers), and uv made .venv, each process compiles pandas anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: env book talk test test-all passed boots lab lab-ui record bench lint lock outputs mutants clean

env: .venv/project

# From scratch each time, so that nothing stays that the lock does not name; but what is there goes
# only where another can come.
.venv/locked: requirements.lock
	@$(MAKE) --no-print-directory may-$(INSTALLER)
	rm -rf .venv
	@$(MAKE) --no-print-directory venv-$(INSTALLER)
	touch $@

.venv/project: .venv/locked pyproject.toml
ifeq ($(INSTALLER),uv)
	uv pip install --quiet --python .venv --no-deps --no-build-isolation --editable .
else
	$(pip) --no-build-isolation --editable .
endif
	ln -sfn ../../../../lib/lorelab/labextension .venv/share/jupyter/labextensions/lorelab
	touch $@

# Fails if the Python $(1) can't be the environment's, and says why.
fits = $(1) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' || { echo \
	"make env: $(PYTHON) is not Python 3.11 or 3.12; name one: make env PYTHON=python3.12," \
	"or get uv, conda, mamba or micromamba, which bring one" >&2; exit 2; }

.PHONY: may-micromamba may-mamba may-conda may-uv may-pip
may-micromamba may-mamba may-conda:

# Of a Python that uv does not find it fetches the version that was named. One that nobody named it
# may have to fetch, too, and can't without a network.
may-uv:
ifneq ($(origin PYTHON),file)
	@found=$$(uv python find '$(PYTHON)' 2>/dev/null) || exit 0; $(call fits,"$$found")
else
	@try=$$(mktemp -d) && { uv venv --quiet --python '$(within)' "$$try/.venv"; made=$$?; \
	rm -rf "$$try"; } && [ $$made = 0 ] || { echo "make env: uv finds no Python 3.11 or 3.12," \
	"and can't fetch one; name one: make env PYTHON=python3.12" >&2; exit 2; }
endif

may-pip:
	@$(call fits,$(PYTHON))
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo \
		"make env: $(PYTHON) cannot make a venv; as root: apt-get install python3-venv" >&2; exit 2; }

.PHONY: venv-micromamba venv-mamba venv-conda venv-uv venv-pip
venv-micromamba venv-mamba venv-conda:
	$(INSTALLER) create --yes --quiet --prefix '$(CURDIR)/.venv' --override-channels \
		--channel conda-forge 'python$(within)' pip
	$(pip) --require-hashes --requirement requirements.lock

venv-uv:
	uv venv --quiet --python '$(if $(filter file,$(origin PYTHON)),$(within),$(PYTHON))' .venv
	uv pip install --quiet --python .venv --no-deps --require-hashes --requirement requirements.lock

venv-pip:
	$(PYTHON) -m venv .venv
	$(pip) --require-hashes --requirement requirements.lock

book: env
	$(run) lorelab.book build

# In build/talk: a deck of reveal.js and its PDF of each chapter, and one across all; the book as PDF.
talk: env
	$(run) lorelab.book talk

# Files come in a random order, those that boot first, one after the other, beside the rest
# (tests/conftest.py). A process that dies is not replaced, else a test that hangs would hang anew
# in each. nbval compares a page's stored outputs with a fresh run.
SEED := $(shell date +%s)
tests := $(run) pytest --numprocesses auto --max-worker-restart 0 --dist loadfile \
	--no-loadscope-reorder --order $(SEED) --nbval --nbval-current-env tests

# One beside the other, for either takes one CPU.
.PHONY: checked
checked: env
	@$(MAKE) --no-print-directory --jobs 2 lint book

# Pages whose outputs rest on something that changed, and a fifth of the others, which takes turns;
# so do tests that rest on no code of the library, and long ones that passed on what is here.
test: checked
	pages=$$($(run) lorelab.book due $(SEED)) && $(tests) --turn $(SEED) $$pages

# All pages, and every model at the ends of its ranges.
test-all: export LORELAB_RANGES = all
test-all: checked
	$(tests) notebooks

# All tests, and which long files passed whole: until what these rest on changes, they take turns in
# `make test`. `make boots`: of those that boot.
passed: checked
	pages=$$($(run) lorelab.book due $(SEED)) && $(tests) --passed $$pages

boots: env
	$(run) pytest -m boots --passed tests

lint: env
	$(run) ruff check
	$(run) ruff format --check
	$(run) lorelab.book prose notebooks/*.ipynb notebooks/*/*.ipynb

lab: env
	.venv/bin/lorelab lab build

# The notebooks in JupyterLab, charts live; it asks nothing of the network. LAB="--no-browser" etc.
lab-ui: env
	.venv/bin/jupyter lab --LabApp.news_url=None --LabApp.extension_manager=readonly \
		--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate $(LAB) notebooks

record: env
	.venv/bin/lorelab lab record

bench: env
	$(run) bench

# Compile the panels' modules that are stale, rerun what changed and store the outputs in notebooks/.
outputs: env
	$(run) lorelab.panel
	$(run) lorelab.book judge
	$(run) lorelab.book store

# make mutants [FILE or FOLDER below lib/lorelab ...]: one-line mutations against fast tests.
mutants: env
	$(run) mutants $(filter-out mutants,$(MAKECMDGOALS))

lock: environment.yml
	mkdir -p build
	sed -n 's/^    - //p' environment.yml >build/direct.in
	uv pip compile --quiet --universal --upgrade --python-version 3.11 --fork-strategy fewest \
		--generate-hashes --no-header --output-file requirements.lock build/direct.in

clean:
	rm -rf .venv build
