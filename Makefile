# Every target makes the environment it needs: Python 3.11 or later and a C++ compiler
# are enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SANITIZED = $(VENV)-sanitize
NATIVE = CMakeLists.txt pyproject.toml $(wildcard src/rtkm/native/*)

# the tests that go through the native core most
NATIVE_TESTS = tests/test_table.py tests/test_bounds.py tests/test_relax.py \
  tests/test_words.py tests/test_sets.py \
  tests/test_projections.py tests/detectors/test_detector_words.py

.PHONY: help demo spectral test quick check format bench bench-growth bench-commands asv quality paper
.PHONY: sanitize valgrind clean

help:
	@echo "make demo      find clusters and outliers in a medical table: a picture and a report"
	@echo "make spectral  robust spectral clustering of two moons, draw spectral.png"
	@echo "make test      all tests, the slow ones too"
	@echo "make quick     the tests of every day"
	@echo "make check     formatting, lint and types"
	@echo "make format    put the formatting right"
	@echo "make bench     time and memory against k-means of others: half an hour"
	@echo "make bench-growth  how time grows with rows, clusters and features"
	@echo "make bench-commands  time and memory of rtkm fit on CSV files"
	@echo "make asv       time of this commit, kept for comparison with others"
	@echo "make quality   objectives reached on fresh random problems"
	@echo "make paper     re-run the paper's experiments (RTKM_DATA: where its tables are)"
	@echo "make sanitize  tests of the native core under address and undefined-behavior checks"
	@echo "make valgrind  a small run of every kernel under memcheck"
	@echo "make clean     remove the environment and what was built"

demo: $(VENV)/with-plot $(VENV)/with-cli
	$(BIN)/python examples/demo.py demo.png
	@echo
	$(BIN)/rtkm demo

spectral: $(VENV)/with-plot
	$(BIN)/python examples/spectral.py spectral.png

test: $(VENV)/with-test $(VENV)/with-crosscheck $(VENV)/with-browser
	$(BIN)/python -m pytest -n auto --cov --cov-report=term:skip-covered

quick: $(VENV)/with-test
	$(BIN)/python -m pytest -n auto -m "not slow"

check: $(VENV)/with-test $(VENV)/with-check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/with-check
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# options for part of it: make bench BENCH="--only descents --shapes 43500x9x3"
bench: $(VENV)/with-test $(VENV)/with-bench
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/speed.py $(BENCH)
ifndef BENCH
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/family.py
endif

bench-growth: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/growth.py

bench-commands: $(VENV)/with-test
	$(BIN)/python benchmarks/commands.py

asv: $(VENV)/with-bench
	$(BIN)/asv machine --yes
	$(BIN)/asv run --show-stderr HEAD^!

quality: $(VENV)/with-test
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/quality.py

# stopped, it goes on in build/paper; what is kept changes only when all is finished
paper: $(VENV)/with-plot
	$(BIN)/rtkm reproduce --out build/paper
	rm -rf experiments/pictures
	cp -R build/paper/results.json build/paper/pictures experiments/
	$(BIN)/python benchmarks/paper.py

# leaks are the interpreter's, which keeps what it has until the end; libstdc++ is named
# because an exception must find the checks in place
sanitize: $(SANITIZED)/with-test
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) \
	  $$($(CXX) -print-file-name=libstdc++.so.6)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	$(SANITIZED)/bin/python -m pytest -m "not slow" $(NATIVE_TESTS)

# once for each instruction set; the log shows errors alone
valgrind: $(VENV)/with-test
	for set in "" baseline; do \
	  RTKM_INSTRUCTIONS=$$set OMP_NUM_THREADS=2 PYTHONMALLOC=malloc \
	  valgrind --quiet --error-exitcode=1 --num-callers=400 \
	  --suppressions=tests/memcheck.supp $(BIN)/python tests/memcheck.py || exit 1; \
	done

clean:
	rm -rf $(VENV) $(SANITIZED) .asv build .pytest_cache .ruff_cache .mypy_cache .coverage demo.png spectral.png rtkm-demo

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

# editable, so that Python files need no second install; native files do
$(VENV)/with-%: $(VENV)/pip $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

$(VENV)/with-check $(VENV)/with-crosscheck $(VENV)/with-bench: $(VENV)/with-%: $(VENV)/pip pyproject.toml
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

$(SANITIZED)/with-test: $(NATIVE)
	$(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install --quiet --upgrade pip
	$(SANITIZED)/bin/python -m pip install --quiet --editable ".[test]" \
	  --config-settings=cmake.define.RTKM_SANITIZE=ON \
	  --config-settings=build-dir=build/sanitize
	touch $@
