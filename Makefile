# `make help` lists the targets. Each target installs what it needs, so nothing has to be run first.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.SUFFIXES:

# Large files live here, outside the clone. All clones share them.
export RECRAWL_CACHE ?= $(HOME)/.cache/recrawl
export CARGO_TARGET_DIR ?= $(RECRAWL_CACHE)/target
export RECRAWL_PYTHON ?= $(RECRAWL_CACHE)/venv-$(firstword $(shell sha256sum .tools/requirements.txt | cut -c1-12))/bin/python
export RECRAWL_BENCH_PYTHON ?= $(RECRAWL_CACHE)/venv-bench-$(firstword $(shell sha256sum tests/bench-peers/requirements.txt | cut -c1-12))/bin/python
export RECRAWL_PEERS_PYTHON ?= $(RECRAWL_CACHE)/venv-peers-$(firstword $(shell sha256sum crates/lab/edits/examples/peers/requirements.txt | cut -c1-12))/bin/python
export PATH := $(PATH):$(HOME)/.cargo/bin
# What runs the tests: https://nexte.st
export RECRAWL_NEXTEST ?= $(RECRAWL_CACHE)/nextest-$(firstword $(shell sha256sum .tools/nextest.txt | cut -c1-12))/bin/cargo-nextest
# What checks the packages: https://embarkstudios.github.io/cargo-deny
export RECRAWL_DENY ?= $(RECRAWL_CACHE)/deny-$(firstword $(shell sha256sum .tools/deny.txt | cut -c1-12))/bin/cargo-deny

# What checks the console's screens for accessibility: https://github.com/dequelabs/axe-core
export RECRAWL_AXE ?= $(RECRAWL_CACHE)/axe-$(firstword $(shell sha256sum .tools/axe.txt | cut -c1-12))/axe.min.js

# RocksDB's C++ library is compiled once (.tools/rocksdb-build) and linked from here. A clone with other build flags has
# its own copy.
ROCKSDB_VERSION := $(shell sed -n '/^name = "librocksdb-sys"/{n;s/.*+\(.*\)"/\1/p}' Cargo.lock)
export ROCKSDB_LIB_DIR ?= $(RECRAWL_CACHE)/rocksdb-$(ROCKSDB_VERSION)-$(firstword $(shell sha256sum .tools/rocksdb-build | cut -c1-12))/lib
export ROCKSDB_STATIC ?= 1

# clang compiles the C and C++ dependencies 1.4 to 1.7 times as fast as gcc, and libclang is needed anyway.
ifeq ($(origin CC),default)
export CC := clang
endif
ifeq ($(origin CXX),default)
export CXX := clang++
endif

# Further arguments for `make demo`, `make fuzz` and `make bench`.
ARGS ?=
# Flags for cargo. .ci/run sets --locked.
CARGO_FLAGS ?=
# What `make test` compiles: neither benchmarks nor examples. `make lint` does.
TESTED := --workspace --exclude bench --lib --bins --tests
NEXTEST := $(RECRAWL_NEXTEST) nextest run $(CARGO_FLAGS)
# First port for `make kafka-up`, and 1 or 3 nodes, also for `make test`.
KAFKA_PORT ?= 19092
KAFKA_NODES ?= 1

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## install everything that is missing for building and testing
	@.tools/setup all

.PHONY: setup-build
setup-build:
	@.tools/setup build

.PHONY: setup-quick
setup-quick:
	@.tools/setup quick

.PHONY: setup-k8s
setup-k8s: setup
	@.tools/setup k8s

.PHONY: setup-bench
setup-bench:
	@.tools/setup bench

.PHONY: setup-peers
setup-peers:
	@.tools/setup peers

.PHONY: demo
demo: setup-build ## build and run the demo, which crawls a small web for some virtual weeks; ARGS="--out DIR"
	@if [ ! -x "$(CARGO_TARGET_DIR)/debug/recrawl-lab" ]; then echo "building recrawl: about seven minutes the first time on two cores" >&2; fi
	@cargo run -q $(CARGO_FLAGS) -p recrawl-lab -- demo $(ARGS)

.PHONY: build
build: setup-build ## build recrawl and recrawl-lab
	cargo build $(CARGO_FLAGS) --workspace --bins

.PHONY: release
release: setup-build ## build what is handed out: recrawl and recrawl-lab, optimised, a tarball and its checksum in target/dist; TARGET=aarch64-unknown-linux-gnu for arm64
	@if [ -n "$${TARGET:-}" ]; then .tools/setup arm64; fi
	@.tools/release make

.PHONY: install
install: ## copy what `make release` built below PREFIX=/usr/local; DESTDIR=DIR for packages
	@.tools/release install

.PHONY: image-e2e
image-e2e: ## build the images of k8s/Dockerfile without Docker, and crawl with them; needs root
	@.tools/setup image
	@tests/image/run

.PHONY: test
test: setup test-build ## run all tests, on a Kafka that is started for them, or on RECRAWL_KAFKA=HOST:PORT; ARGS="-E 'test(robots)'" selects
	@cargo test -q $(CARGO_FLAGS) --workspace --exclude bench --doc | sed '/^$$/d; /^running 0 tests/d; / 0 passed; 0 failed/d'
	@RECRAWL_GO_REQUIRED=1 RECRAWL_KAFKA_REQUIRED=1 RECRAWL_PROMETHEUS_REQUIRED=1 tests/kafka/cluster run --nodes $(KAFKA_NODES) -- .tools/run-tests $(TESTED) $(ARGS)

.PHONY: test-quick
test-quick: setup-quick ## run the tests that need no Kafka; ARGS as for `make test`
	@env -u RECRAWL_KAFKA -u RECRAWL_KAFKA_REQUIRED .tools/run-tests $(TESTED) $(ARGS)

.PHONY: test-build
test-build: setup
	@$(NEXTEST) $(TESTED) --no-run --cargo-quiet

.PHONY: upgrade
upgrade: setup ## run two versions of recrawl side by side, embedded and over Kafka
	@tests/kafka/cluster run --nodes $(KAFKA_NODES) -- .tools/run-tests -p recrawl --test upgrade --ignore-default-filter
	@.tools/changed upgrade prove

.PHONY: sim
sim: setup-build ## simulate stages with failures of any call, on virtual time; SIM_SEEDS=1000 seeds per kind of log, starting at SIM_FROM; SIM_SEED=N SIM_KIND=… repeats one
	@SIM_SEEDS="$${SIM_SEEDS:-1000}" cargo test -q $(CARGO_FLAGS) -p stream --test integration simulation -- --nocapture

.PHONY: power-cuts
power-cuts: setup-quick ## cut the power at every operation of a crawl on files; POWER_CUTS=1000 for that many points
	@POWER_CUTS="$${POWER_CUTS:-all}" cargo test -q $(CARGO_FLAGS) -p recrawl --test embedded power_cuts -- --nocapture

.PHONY: torture
torture: setup ## kill, pause and restart services and the nodes of a three-node Kafka for half an hour; TORTURE_SEED=N repeats a run
	@TORTURE="$${TORTURE:-full}" cargo test -q $(CARGO_FLAGS) -p recrawl --test torture $(ARGS) -- --nocapture --test-threads 1
	@TORTURE="$${TORTURE:-full}" RECRAWL_KAFKA=own cargo test -q $(CARGO_FLAGS) -p stream-kafka --test integration $(ARGS) frozen:: -- --nocapture --test-threads 1

.PHONY: growth
growth: setup-build ## crawl a hostile web that grows for ever, on virtual time; GROWTH_REQUESTS=1000000 requests
	@RECRAWL_TEST_REQUESTS="$${GROWTH_REQUESTS:-1000000}" cargo test -q $(CARGO_FLAGS) -p tests --test whole_loop growth_ -- --nocapture

.PHONY: fuzz
fuzz: setup-build ## fuzz the parsers of external data; FUZZ_SECONDS=25 per target, ARGS=… selects targets
	@tests/fuzz/run $(ARGS)

.PHONY: bench
bench: setup-bench ## run the benchmarks, with Kafka if Java is installed or RECRAWL_KAFKA=HOST:PORT is set; ARGS=… selects rows
	@cargo build -q $(CARGO_FLAGS) --profile measured -p bench -p recrawl -p recrawl-lab --bins
	@around=(); if [ -z "$${RECRAWL_KAFKA:-}" ] && command -v java >/dev/null; then around=(tests/kafka/cluster run --nodes 1 --); fi; \
	"$${around[@]}" $(CARGO_TARGET_DIR)/measured/bench $(ARGS)

.PHONY: peers
peers: setup-peers ## judge edits and noise of the corpora by the rules of other programs; ARGS="--edits 32 SEED" or ARGS="ota-demo ota-genai"
	@RECRAWL_PYTHON=$(RECRAWL_PEERS_PYTHON) cargo run -q $(CARGO_FLAGS) -p edits --example peers -- $(or $(ARGS),--edits)

.PHONY: fmt
fmt: ## format the source
	@cargo fmt --all

.PHONY: deny
deny: setup-quick ## check licences, sources, versions and known advisories of all packages against deny.toml
	@.tools/deny

.PHONY: advisories
advisories: setup-quick ## check all packages against RustSec's database of today; needs github.com
	@.tools/deny advisories

.PHONY: lint
lint: deny ## check the packages, the format, the lock files, and clippy with warnings denied
	@cargo fmt --all --check
	@cargo tree -q --locked --manifest-path tests/fuzz/Cargo.toml >/dev/null
	@cargo clippy $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
	@cargo fmt --all --check --manifest-path tests/kubernetes/Cargo.toml

.PHONY: docs
docs: setup-build ## build the documentation, with warnings denied
	@RUSTDOCFLAGS=-Dwarnings cargo doc $(CARGO_FLAGS) --no-deps --workspace

.PHONY: book
book: setup-build ## make a site of docs/ in target/book with mdBook; REPOSITORY=https://…/blob/main for links that leave docs/
	@.tools/book

.PHONY: k8s-check
k8s-check: ## check the Kubernetes manifests offline
	@.tools/k8s-check/build
	@$$(.tools/k8s-check/build --where) .
	@.tools/k8s-check/grafana/run

.PHONY: k8s-check-itself
k8s-check-itself: ## test that check: it has to find each of a hundred faults in the manifests
	@cd .tools/k8s-check && go test -count=1 -timeout=0 .
	@.tools/changed k8s-check-itself prove

.PHONY: k8s-e2e
k8s-e2e: setup-k8s ## run the loop on a real control plane of Kubernetes, whose nodes start pods as processes; needs Go 1.25; ARGS="--test scaled_by_backlog" selects
	@cargo clippy --locked --manifest-path tests/kubernetes/Cargo.toml --all-targets -- -D warnings
	@tests/kubernetes/control-plane/build
	@tests/kubernetes/keda/build
	@cargo build -q $(CARGO_FLAGS) -p recrawl --bins
	@cargo run -q $(CARGO_FLAGS) -p tests --example next-build
	@RECRAWL_CONTROL_PLANE=$$(tests/kubernetes/control-plane/build --where) RECRAWL_KEDA=$$(tests/kubernetes/keda/build --where) \
	RECRAWL_PROGRAMS=$(CARGO_TARGET_DIR)/debug \
	cargo test --locked --manifest-path tests/kubernetes/Cargo.toml $(ARGS) -- --nocapture --test-threads 1

.PHONY: fresh
fresh: ## run `make demo` and `make test` on a new Debian without anything, and print how long they take; needs root
	@.tools/setup fresh
	@tests/fresh/run

.PHONY: trace-e2e
trace-e2e: setup-k8s ## tell traces to the collector of OpenTelemetry, embedded and over Kafka; needs Go 1.25
	@tests/otel-collector/build
	@RECRAWL_OTEL_COLLECTOR=$$(tests/otel-collector/build --where)/otel-collector RECRAWL_KAFKA_REQUIRED=1 \
	tests/kafka/cluster run --nodes 1 -- .tools/run-tests -p recrawl --test embedded --test distributed tracing

.PHONY: kafka-up
kafka-up: ## start a temporary Kafka on loopback; KAFKA_PORT=19092, KAFKA_NODES=1 or 3
	@tests/kafka/cluster up --nodes $(KAFKA_NODES) --port $(KAFKA_PORT)

.PHONY: kafka-down
kafka-down: ## stop the temporary Kafka and delete its data
	@tests/kafka/cluster down

.PHONY: env
env: ## print the environment for running cargo yourself: eval "$(make -s env)"
	@for name in RECRAWL_CACHE RECRAWL_NEXTEST RECRAWL_DENY RECRAWL_AXE CARGO_TARGET_DIR ROCKSDB_LIB_DIR ROCKSDB_STATIC RECRAWL_PYTHON CC CXX; do printf 'export %s=%q\n' $$name "$${!name}"; done

.PHONY: clean
clean: kafka-down ## delete cargo's build output, which all clones share; keep what setup installed
	@cargo clean -q
	@rm -rf target/demo target/kafka/last-failure-*
