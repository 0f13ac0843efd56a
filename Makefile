# Every target is one command; `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# Steps print progress and use the same folders: one after the other, whatever -j says.
.NOTPARALLEL:

# make splits lists at blanks, and so do the paths in slurm.conf.
ifneq ($(words $(CURDIR)),1)
$(error The path of this folder has a space in it: '$(CURDIR)'. Move or clone it to a path without)
endif

WORK := .workstation
LMOD_87 := $(WORK)/lmod-8.7
PYTHON_ENV := $(WORK)/venv/bin
# Four processes keep two cores busy: tests often wait. tests/conftest.py says which tests share a process.
IN_GROUPS := --dist loadgroup --no-loadscope-reorder
# Image of the modules on this machine, as in the site data; a test compares the two
IMAGE := osu-workstation-mpich-4.2.3-libfabric-1.22.0
# PATH of the tests and of the demo: the project's own apptainer and eb first
export PATH := $(CURDIR)/$(WORK)/bin:$(PATH)
# Images of containers often set it. Then each start of Python compiles all that it imports: twice the time of most commands.
unexport PYTHONDONTWRITEBYTECODE

# Scripts have no suffix where they are commands, so the first line tells what they are.
find_scripts = $(shell find . \( -path ./.git -o -path ./$(WORK) -o -path ./sources \) -prune -o -type f -print0 | \
	xargs -0r awk 'FNR == 1 && /$(1)/ { print FILENAME }')
SHELL_SCRIPTS = $(call find_scripts,^(.!.*[\/ ](ba)?sh|. shellcheck shell=))
PYTHON_COMMANDS = $(filter-out %.py,$(call find_scripts,^.!.*python))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: setup ## set up, install five modules, run them on two nodes, print a table
	@$(PYTHON_ENV)/python -m tools.demo

.PHONY: setup
setup: prerequisites python-env slurm image host-mpi ## only the set-up of the demo: packages, Slurm, image, host MPI

.PHONY: prerequisites
prerequisites: ## install what this machine lacks
	@tools/workstation/prerequisites.sh

.PHONY: test-prerequisites
test-prerequisites:
	@tools/workstation/prerequisites.sh --tests

.PHONY: fast-prerequisites
fast-prerequisites:
	@tools/workstation/prerequisites.sh --fast

.PHONY: python-env
python-env: ## EasyBuild, HPCCM and ReFrame in .workstation/venv
	@tools/workstation/python_env.sh

.PHONY: test-python
test-python:
	@tools/workstation/python_env.sh --tests

.PHONY: slurm
slurm: ## start the private Slurm of two nodes
	@tools/workstation/slurm.sh start

.PHONY: image
image: prerequisites python-env ## build the container image
	@scripts/osu-container image build $(IMAGE)

.PHONY: host-mpi
host-mpi: python-env ## unpack the host's MPI
	@tools/workstation/host_mpi.sh

.PHONY: lmod-87
lmod-87: prerequisites
	@# That of LUMI, for the tests; without a Debian archive they use the Lmod of this machine alone.
	-@[[ -e $(LMOD_87)/lmod ]] || { mkdir -p $(LMOD_87) && tools/workstation/debian_packages.sh trixie $(LMOD_87) lmod && \
	    dpkg -x $(LMOD_87)/lmod_*.deb $(LMOD_87) && ln -s $(CURDIR)/$(LMOD_87)/usr/share/lmod/8.7.*/libexec/lmod $(LMOD_87)/lmod; }

.PHONY: easybuild-%
easybuild-%:
	@tools/workstation/python_env.sh $*

# System tests are left out where only root could install what they need.
SUITES = $(shell tools/workstation/prerequisites.sh --check >/dev/null 2>&1 && echo 'not nightly' || echo 'not nightly and not system')

.PHONY: announce
announce:
	@echo "Tests that change this machine (CONTRIBUTING.md lists them): apt-get installs packages;"
	@echo "as root they also create the account osu-tester for a while and set the mode of /dev/fuse."

.PHONY: test
test: announce test-prerequisites test-python host-mpi ## set up what is missing, then run both suites (PYTEST="-k word" adds arguments)
	$(if $(findstring not system,$(SUITES)),,@$(MAKE) --no-print-directory setup)
	$(PYTHON_ENV)/pytest -n 4 $(IN_GROUPS) --durations=40 -m "$(SUITES)" $(PYTEST)

.PHONY: test-all
test-all: announce setup test-prerequisites test-python lmod-87 easybuild-4.9.4 easybuild-5.1.2 ## both suites and the nightly tests: every image, page and EasyBuild, 300 random pairs (hours)
	$(PYTHON_ENV)/pytest -n 4 $(IN_GROUPS) --durations=40 $(PYTEST)

.PHONY: test-unit
test-unit: fast-prerequisites test-python host-mpi ## the suite of unit tests: no container, Slurm, EasyBuild, ReFrame or browser
	$(PYTHON_ENV)/pytest -n 4 $(IN_GROUPS) -m "not system and not nightly" $(PYTEST)

.PHONY: slingshot
slingshot: setup ## reproduce public failures of Slingshot in a stand-in of LUMI, and print a table
	@$(PYTHON_ENV)/python -m tests.runs.test_slingshot

.PHONY: mutants
mutants: fast-prerequisites test-python host-mpi ## how many of 60 small faults in the verdict the unit tests find (COUNT=60 SEED=42)
	@tools/mutants.sh

.PHONY: check
check: check-python check-shell check-modules check-easyconfigs ## all checks of style

.PHONY: check-python
check-python: test-python
	$(PYTHON_ENV)/ruff check . $(PYTHON_COMMANDS)
	$(PYTHON_ENV)/ruff format --check . $(PYTHON_COMMANDS)
	$(PYTHON_ENV)/mypy

.PHONY: check-shell
check-shell: test-python
	$(PYTHON_ENV)/shellcheck -x $(SHELL_SCRIPTS)

# Lmod's own check evaluates every module file: syntax, and calls of functions that do not exist.
.PHONY: check-modules
check-modules: fast-prerequisites
	@for site in $(CURDIR)/modules/*/; do \
	    bash -c '"$${LMOD_PKG:-/usr/share/lmod/lmod}/libexec/check_module_tree_syntax" "$$0"' "$${site%/}" || exit; \
	done

.PHONY: check-easyconfigs
check-easyconfigs: fast-prerequisites test-python host-mpi
	@# As a user has EasyBuild after the set-up: easyconfigs ask which site this is
	. ./env.sh && eb --check-contrib easyconfigs/*/*/*.eb

.PHONY: modules
modules: fast-prerequisites test-python ## write easyconfigs, modules (all in .workstation/modules), recipes and tables of pages
	$(PYTHON_ENV)/python -m tools.generate

.PHONY: sites
sites: test-python ## print which image and approach check recommends for each site, with the evidence
	@$(PYTHON_ENV)/python -m tools.generate.described_facts

.PHONY: docs
docs: test-python ## draw the pictures of the pages, build the site, and check its links strictly
	@# Beside the environment: where rich can be imported, EasyBuild wraps its output.
	@$(PYTHON_ENV)/pip install --quiet --upgrade --target $(WORK)/rich rich==14.0.0
	@PYTHONPATH=$(WORK)/rich $(PYTHON_ENV)/python -m tools.generate.site_pages
	@NO_MKDOCS_2_WARNING=1 $(PYTHON_ENV)/python -m mkdocs build --strict --quiet
	@echo "docs: open $(CURDIR)/$(WORK)/site/index.html"

.PHONY: release
release: prerequisites python-env ## make the files of a release and try them on clean Debian 12 and 13 (docs/support.md)
	@tools/release.sh

.PHONY: lumi
lumi: ## on LUMI: link easyblocks and easyconfigs into your EasyBuild tree (docs/install-lumi.md)
	@tools/lumi-links

.PHONY: unlumi
unlumi: ## on LUMI: take these links away again
	@tools/lumi-links --remove

.PHONY: stop
stop: ## stop the private Slurm
	@tools/workstation/slurm.sh stop

.PHONY: clean
clean: ## stop what was started and remove .workstation
	@tools/workstation/clean.sh

.PHONY: uninstall
uninstall: ## clean, and remove the installed modules; says which packages stay
	@tools/workstation/clean.sh --modules
