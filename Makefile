# Every target makes the environment it needs: Python 3.11 or later and a C++ compiler
# are enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SANITIZED = $(VENV)-sanitize
RACES = $(VENV)-tsan
# ON, as in CI: a warning of the C++ compiler ends the build
WERROR ?= OFF
# text tables that `make fuzz` draws
FILES ?= 50000
# further options of pip for the build
BUILD ?=
# a processor that is done takes over tests from another
PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal
CXX_FILES = $(shell find src/rtkm/native -name '*.hpp' -o -name '*.cpp')
NATIVE = CMakeLists.txt pyproject.toml $(CXX_FILES)

# every Python that we support and that runs here, by its path
PYTHONS ?= $(shell for version in 3.11 3.12 3.13; do \
  for python in python$$version $$(pyenv whence --path python$$version 2>/dev/null); do \
    "$$python" -c "import sys; print(sys.executable)" 2>/dev/null && break; \
  done; \
done)

# ours, and the newest of the others: CI tests there, with the lowest dependencies
VERSION_OF = -c "import sys; print('%d.%d' % sys.version_info[:2])"
OWN = $(shell $(PYTHON) $(VERSION_OF))
OTHER ?= $(or $(lastword $(filter-out $(OWN),\
  $(shell for python in $(PYTHONS); do "$$python" $(VERSION_OF); done))),$(OWN))

# the tests that go through the native core most; how soon Ctrl-C ends a pass is left to
# the tests without checks, which slow everything down
NATIVE_TESTS = tests/core/test_table.py tests/core/test_bounds.py \
  tests/core/test_proximal_step.py tests/core/test_words.py tests/core/test_sets.py \
  tests/core/test_projections.py tests/detectors/test_detector_words.py -k "not ctrl_c"

.PHONY: test-matrix test-compilers fuzz coverage docs wheel
.PHONY: help demo spectral test quick test-other-python check check-native format
.PHONY: bench bench-growth bench-seeding bench-commands bench-start asv quality scaling same-bits paper paper-quick
.PHONY: sanitized sanitize sanitize-quick tsan valgrind clean

help:
	@echo "make demo      find clusters and outliers in two tables: a picture and a report"
	@echo "make spectral  robust spectral clustering of two moons, draw spectral.png"
	@echo "make test      all tests, the slow ones too"
	@echo "make quick     the tests of every day"
	@echo "make coverage  all tests, and which lines and branches they reach"
	@echo "make test-matrix  the tests of every day on every Python that is installed, with the"
	@echo "               newest and the lowest dependencies (CELLS: options of nox for a part)"
	@echo "make test-other-python  one cell of it: another Python, the lowest dependencies"
	@echo "make wheel     wheels and a source archive in dist/, audited, installed and tested"
	@echo "make test-compilers  the core with every compiler that is installed, and its bits"
	@echo "make fuzz      text tables drawn at random (FILES of them) against a strict reader"
	@echo "make check     formatting, lint and types"
	@echo "make format    put the formatting right"
	@echo "make docs      the documentation, into build/docs/html; nothing is loaded from the net"
	@echo "make bench     time and memory against k-means of others: half an hour"
	@echo "make bench-growth  how time grows with rows, clusters and features"
	@echo "make bench-seeding  starting centers one by one and many at a time"
	@echo "make bench-commands  time and memory of rtkm fit on CSV files"
	@echo "make bench-start  how long imports and commands take to start"
	@echo "make asv       time of this commit, kept for comparison with others"
	@echo "make quality   objectives reached on fresh random problems"
	@echo "make scaling   what scaling does to clusters on labelled tables (RTKM_DATA, too)"
	@echo "make same-bits OLD=PYTHON  what has changed, to the last bit, since the version OLD has"
	@echo "make paper     re-run the paper's experiments (RTKM_DATA: where its tables are)"
	@echo "make paper-quick  the same from fewer starts, into build/paper-quick: a minute"
	@echo "make sanitize  tests of the native core under address and undefined-behavior checks"
	@echo "make sanitize-quick  a small run of every kernel under the same checks"
	@echo "make tsan      a run of every kernel in several threads, watched for races"
	@echo "make valgrind  a small run of every kernel under memcheck"
	@echo "make clean     remove the environment and what was built"

demo: $(VENV)/with-cli,plot
	$(BIN)/python examples/demo.py demo.png
	@echo
	$(BIN)/rtkm demo

spectral: $(VENV)/with-plot
	MPLBACKEND=Agg $(BIN)/python examples/plot_spectral_moons.py spectral.png

test: $(VENV)/with-test $(VENV)/with-crosscheck $(VENV)/with-browser $(VENV)/with-notebook
	$(PYTEST)

quick: $(VENV)/with-test
	$(PYTEST) -m "not slow"

# apart from the tests, which it slows down
coverage: $(VENV)/with-test $(VENV)/with-crosscheck $(VENV)/with-browser $(VENV)/with-notebook
	$(PYTEST) --cov --cov-report=term:skip-covered

# nox finds every Python on the path, but not behind the names that pyenv puts there
space := $(subst ,, )
NOX = PATH="$(subst $(space),:,$(patsubst %/,%,$(dir $(PYTHONS)))):$$PATH" $(BIN)/nox

# for a part of it: make test-matrix CELLS="--python 3.13 -k lowest"
test-matrix: $(VENV)/with-matrix
	$(NOX) $(CELLS)

test-other-python: $(VENV)/with-matrix
	$(NOX) --python $(OTHER) -k lowest

# one wheel for 3.11 and one for the later versions, built from the source archive as they
# would be published; then what a new user waits for, in an empty environment
wheel: $(VENV)/with-wheel
	rm -rf dist build/wheel
	$(BIN)/python -m build --quiet --sdist
	for python in $(PYTHONS); do \
	  ls build/wheel/*-abi3-*.whl 2>/dev/null && break; \
	  "$$python" -m pip wheel --quiet --no-deps --wheel-dir build/wheel dist/*.tar.gz \
	    || exit 1; \
	done
	PATH="$(abspath $(BIN)):$$PATH" \
	  $(BIN)/auditwheel repair --strip --wheel-dir dist build/wheel/*.whl
	for wheel in dist/*-abi3-*.whl; do \
	  ! test -e "$$wheel" || $(BIN)/abi3audit --strict --report "$$wheel" || exit 1; \
	done
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	ls -l dist
	for python in $(PYTHONS); do \
	  "$$python" benchmarks/first_answer.py dist || exit 1; \
	done

# options for part of it: make test-compilers COMPILERS="--only clang --no-tests"
test-compilers: $(VENV)/with-test
	$(BIN)/python tests/native/compilers.py $(COMPILERS)

# many more generated files than `make test` draws
fuzz: $(VENV)/with-test
	RTKM_FUZZ_FILES=$(FILES) $(BIN)/python -m pytest tests/tables/test_strict_reading.py

check: $(VENV)/with-test $(VENV)/with-check check-native
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

check-native: $(VENV)/with-check
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES) tests/native/*.cpp

format: $(VENV)/with-check
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CXX_FILES) tests/native/*.cpp

# warnings are errors; then every link and anchor within the pages is followed
docs: $(VENV)/with-cli,plot $(VENV)/with-docs
	$(BIN)/python -m sphinx -W --keep-going -n -q -E -b html -d build/docs/doctrees \
	  docs build/docs/html
	$(BIN)/python docs/check_links.py build/docs/html

# options for part of it: make bench BENCH="--only descents --shapes 43500x9x3"
bench: $(VENV)/with-test $(VENV)/with-bench
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/speed.py $(BENCH)
ifndef BENCH
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/family.py
endif

bench-growth: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/growth.py

bench-seeding: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/seeding.py

bench-commands: $(VENV)/with-test
	$(BIN)/python benchmarks/commands.py

bench-start: $(VENV)/with-test
	$(BIN)/python benchmarks/start.py

asv: $(VENV)/with-bench
	$(BIN)/asv machine --yes
	$(BIN)/asv run --show-stderr HEAD^!

quality: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/quality.py

# tables come from packages that are no dependencies: those not installed are skipped
scaling: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/scaling.py

# OLD is the Python of an environment that has the other version; one thread, because
# the k-means of scikit-learn inside CBLOF rounds by threads
same-bits: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(OLD) benchmarks/same_bits.py write build/old.bits
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/same_bits.py write build/new.bits
	$(BIN)/python benchmarks/same_bits.py compare build/old.bits build/new.bits

# stopped, it goes on in build/paper; what is kept changes only when all is finished
paper: $(VENV)/with-plot $(VENV)/with-cli
	$(BIN)/python -m experiments --out build/paper
	rm -rf experiments/results/pictures
	cp -R build/paper/results.json build/paper/pictures experiments/results/
	PYTHONPATH=. $(BIN)/python benchmarks/paper.py

paper-quick: $(VENV)/with-plot $(VENV)/with-cli
	$(BIN)/python -m experiments --quick --out build/paper-quick

# leaks are the interpreter's, which keeps what it has until the end; libstdc++ is named
# because an exception must find the checks in place
SANITIZED_PYTHON = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) \
    $$($(CXX) -print-file-name=libstdc++.so.6)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(SANITIZED)/bin/python

sanitized:
	$(MAKE) $(SANITIZED)/with-test VENV=$(SANITIZED) WERROR=OFF \
	  BUILD="--config-settings=cmake.define.RTKM_SANITIZE=address,undefined \
	    --config-settings=build-dir=build/sanitize"

sanitize: sanitized
	$(SANITIZED_PYTHON) -m pytest -m "not slow" $(NATIVE_TESTS)

sanitize-quick: sanitized
	for set in "" baseline; do \
	  RTKM_INSTRUCTIONS=$$set $(SANITIZED_PYTHON) tests/memcheck.py || exit 1; \
	done

# races between the threads of a pass; addresses must not be random, or older runtimes
# find no room for theirs
tsan:
	$(MAKE) $(RACES)/with-test VENV=$(RACES) WERROR=OFF \
	  BUILD="--config-settings=cmake.define.RTKM_SANITIZE=thread \
	    --config-settings=build-dir=build/tsan"
	LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so)" OMP_NUM_THREADS=4 \
	  OPENBLAS_NUM_THREADS=1 TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0" \
	  setarch --addr-no-randomize $(RACES)/bin/python tests/memcheck.py 2111

# once for each instruction set; the log shows errors alone
valgrind: $(VENV)/with-test
	for set in "" baseline; do \
	  RTKM_INSTRUCTIONS=$$set OMP_NUM_THREADS=2 PYTHONMALLOC=malloc \
	  valgrind --quiet --error-exitcode=1 --num-callers=400 \
	  --suppressions=tests/memcheck.supp $(BIN)/python tests/memcheck.py || exit 1; \
	done

clean:
	rm -rf $(VENV) $(SANITIZED) $(RACES) .asv build dist .pytest_cache .ruff_cache .mypy_cache .coverage demo.png spectral.png rtkm-demo docs/gallery docs/api/generated docs/api/backreferences

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

# editable, so that Python files need no second install; native files do
$(VENV)/built: $(VENV)/pip $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable . \
	  --config-settings=cmake.define.RTKM_WERROR=$(WERROR) $(BUILD)
	touch $@

# what extras need besides, as with-test or with-cli,plot: rtkm itself is there already
$(VENV)/with-%: $(VENV)/built
	$(BIN)/python -m pip install --quiet "rtkm[$*]"
	touch $@

GROUPS = $(addprefix $(VENV)/with-,check crosscheck bench notebook docs wheel matrix)
$(GROUPS): $(VENV)/with-%: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

# what the report is tested in, where it can be had; its tests are skipped otherwise
$(VENV)/with-browser: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --group browser \
	  || echo "going on without playwright"
	which chromium || which chromium-browser || which google-chrome \
	  || { [ "$$(id -u)" = 0 ] && apt-get -qq update \
	    && apt-get -qq install --no-install-recommends chromium; } \
	    </dev/null >/dev/null 2>&1 \
	  || echo "going on without chromium"
	touch $@
