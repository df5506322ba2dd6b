# Needs python3, pip and make; everything else goes into .venv.
#   make demo     a real failed run, piped through aifix
#   make test     everything that a machine without a GPU can run
#   make test-gpu  on a machine with a GPU: its tests, and NVML's answers recorded as a fixture
#   make check    ruff and mypy
#   make lab      every specimen that this machine can run, as a table, with a gigabyte of libraries that `make test` does without
#   make docs     the handbook site, in build/handbook/site; a dead link or anything undocumented fails it
#   make trust    what aifix withstands: fuzzing, worst cases, secrets, faults; writes docs/trust.md (TRUST_ARGS=--seconds 60)
#   make bench    every performance figure, beside its yardstick (BENCH_ARGS=--short for two minutes' worth)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# where the CPU build of torch is not the default: make test TORCH_INDEX='--extra-index-url https://download.pytorch.org/whl/cpu'
TORCH_INDEX ?=
PYTEST_ARGS ?= -n auto --dist loadgroup
# continuous integration takes the slower half of the specimens too: make test MARKS='not gpu'
MARKS ?= not gpu and not thorough
SOURCES := pyproject.toml hatch_build.py $(shell find src rules kb tui -type f -not -name '*.pyc' 2>/dev/null)

.PHONY: lab lab-versions demo test test-gpu bench trust check format clean

demo: $(VENV)/.installed
	@log=$$($(BIN)/python -m aifix.examples cuda-oom) && echo "$$ cat $$log | aifix" && \
	(cat "$$log" | $(BIN)/aifix; status=$$?; \
	echo; echo "aifix ended with status $$status: 1 says that the run behind the pipe had failed"; test $$status -eq 1)

test: $(VENV)/.test
	$(BIN)/python -m pytest -m '$(MARKS)' $(PYTEST_ARGS)

test-gpu: $(VENV)/.test
	$(BIN)/python tests/probes/nvml/record.py
	$(BIN)/python -m pytest -m gpu

trust: $(VENV)/.test
	$(PIP) atheris
	$(BIN)/python tests/fuzz/trust.py $(TRUST_ARGS)

bench: $(VENV)/.installed
	$(BIN)/python bench/run.py $(BENCH_ARGS)

# never --quiet: mkdocs would not count the warnings that --strict ends with
docs: $(VENV)/.docs
	$(BIN)/python docs/generate.py build/handbook
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean -f build/handbook/mkdocs.yml

# every specimen that this machine can run, with the libraries that CI does without (LAB_ARGS names some: make lab LAB_ARGS='hf serve')
lab: $(VENV)/.test
	$(PIP) --group lab-more
	$(BIN)/aifix lab run -j 2 $(LAB_ARGS)

# the specimens under the oldest torch, one in the middle and the newest (gigabytes are loaded); VERSIONS_ARGS names interpreters instead
lab-versions: $(VENV)/.editable
	$(BIN)/python tests/lab/versions.py $(VERSIONS_ARGS)

check: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist

# Debian's python3 comes without ensurepip: there the system's pip puts one into the environment. pip 25.1 is the first with --group.
$(VENV)/.python:
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(PIP) --upgrade 'pip>=25.1'
	@touch $@

# for the demo: a real wheel, as from PyPI; for tests and checks: the source tree itself
$(VENV)/.installed: $(VENV)/.python $(SOURCES)
	$(PIP) .
	@touch $@

$(VENV)/.editable: $(VENV)/.python pyproject.toml hatch_build.py
	$(PIP) --editable '.[tui,fix]'
	@touch $@ $(VENV)/.installed

$(VENV)/.test: $(VENV)/.editable
	$(PIP) --group test
	$(PIP) --group torch --group lab $(TORCH_INDEX)
	@touch $@

$(VENV)/.docs: $(VENV)/.editable
	$(PIP) --group docs
	@touch $@

$(VENV)/.lint: $(VENV)/.editable
	$(PIP) --group lint --group test
	@touch $@
