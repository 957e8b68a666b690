# The few commands people type, on top of the CMake presets. GNU make; stops at the first failing step.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.DEFAULT_GOAL := build

PROGRAM := build/release/rattleback
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# Configures (with the options $(2)) and builds one preset; ninja shows its progress line on a terminal
# and nothing in a pipe.
define build_preset
	@mkdir -p build/$(1)
	@cmake --preset $(1) $(2) >build/$(1)/configure.log 2>&1 || { cat build/$(1)/configure.log >&2; exit 1; }
	@if [ -t 1 ]; then cmake --build build/$(1) -j $(JOBS); else \
	    cmake --build build/$(1) -j $(JOBS) -- --quiet | { grep -vx 'ninja: no work to do.' || true; }; fi
endef

# Runs the tests of one preset whose names match $(2) at the level $(3).
define run_tests
	@JOBS=$(JOBS) tools/run_tests.sh $(1) $(3) $(if $(2),'$(2)')
endef

.PHONY: help
help: ## shows this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup setup-test setup-package setup-ci setup-bench setup-docs setup-python setup-wasm setup-mpi setup-mpich
setup:
	@tools/setup.sh
setup-test:
	@tools/setup.sh test
setup-package:
	@tools/setup.sh package
setup-ci:
	@tools/setup.sh ci
setup-bench:
	@tools/setup.sh bench
setup-docs:
	@tools/setup.sh docs
setup-python:
	@tools/setup.sh python
setup-wasm:
	@tools/setup.sh wasm
setup-mpi:
	@tools/setup.sh mpi
setup-mpich:
	@tools/setup.sh mpich

.PHONY: build
build: setup ## installs missing packages and builds build/release/rattleback (same as make alone)
	$(call build_preset,release)

.PHONY: demo
demo: build ## runs the stone that reverses its spin and a tumbling box, draws them, checks them, shows the stone live
	@mkdir -p out
	@$(PROGRAM) run scenes/rattleback.json --plot out/rattleback.svg --journal out/rattleback-journal.csv
	@$(PROGRAM) run scenes/tumbling-box.json --plot out/tumbling-box.svg --csv out/tumbling-box.csv \
	    --record out/tumbling-box.rbr --vtk out/tumbling-box-vtk
	@$(PROGRAM) validate tumbling-box
	@echo
	@echo "Shown: a rattleback that is spun in the wrong direction, rattles and reverses, by thousands of impacts with friction;"
	@echo "       and a free box tumbling about its unstable middle axis, computed in closed form and checked against reference values."
	@echo "Look:  out/rattleback.svg, out/tumbling-box.svg (browser), out/rattleback-journal.csv (every impact), out/tumbling-box.csv"
	@echo "       (table), out/tumbling-box-vtk (ParaView opens the .pvd)."
	@echo "Next:  $(PROGRAM) replay out/tumbling-box.rbr runs it again and compares every bit; $(PROGRAM) validate toys checks the"
	@echo "       rattleback and similar toys; $(PROGRAM) lists all scenes."
	@echo "Live:  the rattleback in a browser; the address comes next."
	@if [ -t 1 ]; then $(PROGRAM) view rattleback; else $(PROGRAM) view rattleback --for 3; fi

.PHONY: test
test: setup-test build ## installs the packages for the tests, builds and runs all of them
	$(call run_tests,release,,normal)

.PHONY: certify
certify: build ## runs all scenes (at most 20 s of CPU time each), checks their certificates and prints a table
	@tools/certify.py $(PROGRAM) --jobs $(JOBS)

.PHONY: python
python: setup-python build ## installs the Python package into build/python and tests it (SCENES=all: all examples against the program)
	@tools/test_python.sh build/python $(if $(filter all,$(SCENES)),--all-scenes)

.PHONY: wasm
wasm: setup-wasm ## builds the engine as WebAssembly: build/wasm/rattleback.wasm
	@JOBS=$(JOBS) tools/build_wasm.sh

.PHONY: test-wasm
test-wasm: build wasm ## compares the engine in WebAssembly with the program: hashes of short scenes (SCENES=all: of all), bad input
	@tools/test_wasm.sh $(if $(filter all,$(SCENES)),--all)

.PHONY: site
site: build wasm ## writes the site, static files with the engine inside: build/site (DOCS=no: without the documents)
	$(if $(filter no,$(DOCS)),,@$(MAKE) docs)
	@node tools/build_site.mjs $(PROGRAM) build/wasm/rattleback.wasm build/site $(if $(filter no,$(DOCS)),,build/docs)

.PHONY: test-site
test-site: site ## tests the site in chromium from a plain file server
	@RB_SITE=build/site RB_OUTPUT=build/site-screenshots node --test test/wasm/site/*.mjs

.PHONY: npm
npm: build wasm ## packs the npm package, build/npm/rattleback-VERSION.tgz, and tests it
	@node test/wasm/scenes.mjs rattleback tumbling-box symmetric-top pendulum dominoes swarm
	@tools/build_npm.sh
	@RB_TARBALL=$$(ls build/npm/*.tgz) node --test test/wasm/npm/*.mjs

.PHONY: test-long
test-long: setup-ci build ## ten times the random cases, then 60 s of each fuzz target; less than 20 minutes
	$(call build_preset,fuzz)
	@JOBS=$(JOBS) tools/test_long.sh

.PHONY: test-full
test-full: setup-test build ## every random case; writes the log test/logs/test-full.log
	@JOBS=$(JOBS) tools/test_full.sh

.PHONY: test-asan
test-asan: export ASAN_OPTIONS := detect_leaks=0
test-asan: setup-test ## a tenth of the random cases under the address and undefined-behavior sanitizers
	$(call build_preset,asan)
	@JOBS=$(JOBS) tools/test_asan.sh

.PHONY: test-tsan
test-tsan: export TSAN_OPTIONS := halt_on_error=1
test-tsan: setup-test ## worlds on 1 to 16 threads under the thread sanitizer
	@mkdir -p build/tsan
	@cmake --preset tsan >build/tsan/configure.log 2>&1 || { cat build/tsan/configure.log >&2; exit 1; }
	@cmake --build build/tsan -j $(JOBS) --target test_threads -- --quiet | { grep -vx 'ninja: no work to do.' || true; }
	@RB_TEST_LEVEL=quick build/tsan/test_threads

.PHONY: test-mpi
test-mpi: setup-mpi ## builds the component of MPI and tests it on 1, 2, 3, 4 and 8 ranks (LEVEL=full: 64,000 spheres)
	@mkdir -p build/mpi
	@cmake --preset mpi >build/mpi/configure.log 2>&1 || { cat build/mpi/configure.log >&2; exit 1; }
	@cmake --build build/mpi -j $(JOBS) --target test_cluster rattleback_program -- --quiet | { grep -vx 'ninja: no work to do.' || true; }
	@tools/test_mpi.sh build/mpi $(or $(LEVEL),normal)

.PHONY: test-mpich
test-mpich: setup-mpich ## the same with MPICH on 1 and 2 ranks, and the launcher of each MPI with the program of the other
	@for preset in mpi mpich; do \
	    mkdir -p build/$$preset && \
	    { cmake --preset $$preset >build/$$preset/configure.log 2>&1 || { cat build/$$preset/configure.log >&2; exit 1; }; } && \
	    cmake --build build/$$preset -j $(JOBS) --target test_cluster rattleback_program || exit 1; \
	done
	@tools/test_mpi.sh build/mpich quick build/mpi

# without golden_threads: numbers of threads are compared in release builds, and take minutes in these
debug_golden := [.]golden_([^t]|tr)
.PHONY: test-bits
test-bits: setup-ci ## checks that gcc and clang, debug and release give the same hashes
	$(call build_preset,release)
	$(call run_tests,release,[.]golden_,normal)
	$(call build_preset,debug)
	$(call run_tests,debug,$(debug_golden),normal)
	$(call build_preset,clang)
	$(call run_tests,clang,[.]golden_,normal)
	$(call build_preset,clang-debug)
	$(call run_tests,clang-debug,$(debug_golden),normal)

# SEED, COUNT, ROOM and LEVEL choose; the log keeps what was run, so that an interrupted run goes on.
.PHONY: mutate
mutate: setup-test ## breaks the core in 300 random places, one at a time, and lists what the tests do not notice (ROOM=geometry: only there)
	@mkdir -p build/mutate
	@tools/mutate.py --seed $(or $(SEED),1) --count $(or $(COUNT),300) --room "$(ROOM)" --level $(or $(LEVEL),quick) \
	    --jobs $(JOBS) --log build/mutate/seed-$(or $(SEED),1).log
	@tools/mutate.py --aimed --jobs $(JOBS)

.PHONY: coverage
coverage: setup-test ## prints the lines that the tests execute, room by room (PROGRAMS=test_base: only these tests)
	@tools/coverage.py --jobs $(JOBS) --programs "$(PROGRAMS)" --level $(or $(LEVEL),normal)

.PHONY: bench
bench: setup-bench ## installs the peer libraries and runs the benchmarks against them (SUITE="convex math": only those)
	$(call build_preset,release,-DRB_BUILD_PEERS=ON)
	@mkdir -p out
	@$(PROGRAM) bench $(SUITE) --plots out

.PHONY: pictures
pictures: build ## draws the pictures of README.md and docs/gallery.md again (NAME="arch dominoes": only those)
	@tools/pictures.sh $(PROGRAM) docs/images/scenes 800x450 $(NAME)

.PHONY: docs
docs: setup-docs ## builds the API reference and the pages of docs/ as one site; open build/docs/index.html
	@rm -rf build/docs && mkdir -p build
	@doxygen docs/Doxyfile
	@echo "docs: build/docs/index.html"

.PHONY: install uninstall
install: PREFIX ?= /usr/local
install: build ## installs the program, the libraries and their headers into PREFIX (default /usr/local; DESTDIR is honored)
	@tools/install.sh "$(PREFIX)"
uninstall: PREFIX ?= /usr/local
uninstall: ## removes the files that make install put into PREFIX
	@tools/install.sh --remove "$(PREFIX)"

.PHONY: deb
deb: setup-package ## builds the Debian packages in build/deb/packages and checks them; tools/test_deb.sh tests them in a chroot
	@mkdir -p build/deb
	@cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DRB_DEBIAN=ON -DRB_BUILD_TESTS=OFF \
	    >build/deb/configure.log 2>&1 || { cat build/deb/configure.log >&2; exit 1; }
	@cmake --build build/deb -j $(JOBS) -- --quiet | { grep -vx 'ninja: no work to do.' || true; }
	@rm -rf build/deb/packages
	@cd build/deb && cpack >cpack.log 2>&1 || { cat cpack.log >&2; exit 1; }
	@lintian --allow-root --fail-on error build/deb/packages/*.deb
	@ls build/deb/packages/*.deb

.PHONY: settings-docs
settings-docs: build ## renews what docs/ says of settings, shapes and forces from the program
	tools/settings_docs.py build/release/rattleback

.PHONY: trace
trace: ## lists which features of the specifications are done, and checks that a test proves each
	@tools/trace.py

.PHONY: format
format: setup-ci ## formats all C files
	@tools/check_format.sh --fix

.PHONY: check
check: setup-ci ## checks format, clang-tidy, layers, symbols, documents
	@tools/check_format.sh
	@tools/check_layers.py
	@tools/check_symbols.sh
	@tools/check_docs.py
	@tools/check_tidy.sh

.PHONY: clean
clean: ## removes build/ and out/
	@rm -rf build out
