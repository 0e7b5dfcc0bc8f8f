# The one door. `make help` lists what there is; every target may be run again at no cost.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
include tools/versions.env

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
DESTDIR ?=
CLANG_FORMAT ?= clang-format-$(CLANG_VERSION)
RUN_CLANG_TIDY ?= run-clang-tidy-$(CLANG_VERSION)
# The sanitizer builds are the second compiler's, where it is installed.
SANITIZER_CXX ?= $(shell command -v clang++-$(CLANG_VERSION) || command -v clang++ || echo c++)

# The Go that setup found or got; asked for only when a recipe uses it.
GO = $(shell tools/go_path.sh)
# The modules are those of go.work. Each is tested by its own go.mod, as its users build it.
GO_MODULES = $(shell sed -n 's/^\t\.\///p' go.work)

SOURCES = $(shell find cpp bench tools -name gen -prune -o \( -name '*.h' -o -name '*.cc' \) -print)

##@ Everyday
.PHONY: help setup build cli demo live tour replay generate
help:  ## This list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## Install the Debian packages that are missing (asks for root only then)
	@tools/setup.sh

build: build/release/build.ninja  ## Everything, optimised, in build/release
	cmake --build build/release -j $(JOBS)

cli: setup  ## The command-line tool, in build/harena
	GOWORK=off $(GO) build -C go/cmd/harena -trimpath \
	  -ldflags "-X main.version=$(shell tools/project_version.sh)" -o $(CURDIR)/build/harena .

demo: build/release/build.ninja  ## The main job: real feeds over gRPC, every memory mode (QUICK=1, FULL=1, SATURATION=1)
	cmake --build build/release -j $(JOBS) --target harena_demo_server harena_demo_server_codec \
	  harena_demo_loader harena_alloc_count
	python3 bench/demo/run.py --build-dir build/release --out out/demo \
	  $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(SATURATION),--saturation)

LANGUAGE ?= c++
ADDRESS ?= 127.0.0.1:9090
DURATION ?= 3600
live: build/release/build.ninja  ## A demo server with load and its live page, until Ctrl-C (LANGUAGE=go, DURATION=seconds, ADDRESS)
	cmake --build build/release -j $(JOBS) --target harena_demo_server_codec harena_demo_loader
	python3 bench/live/run.py --build-dir build/release --language '$(LANGUAGE)' --address '$(ADDRESS)' \
	  --seconds '$(DURATION)'

# Debian's own Python has Debian's packages.
tour: $(if $(QUICK),cli,package) build/release/build.ninja  ## Packages, live page, load, the advisor's file applied, the saving compared: unattended, 9 minutes (root, out/tour; QUICK=1 takes one, without packages, browser and root)
	$(if $(QUICK),,tools/setup.sh chromium chromium-driver python3-selenium mmdebstrap iproute2)
	cmake --build build/release -j $(JOBS) --target harena_demo_server_codec harena_demo_loader
	/usr/bin/python3 -B bench/tour/run.py $(if $(QUICK),--quick)

# ARGS as `python3 bench/replay/run.py --help` says.
replay: build/release/build.ninja  ## What your own messages would cost: ARGS="CAPTURE --proto FILE ..." (docs/replay.md)
	cmake --build build/release -j $(JOBS) --target harena_pb protoc-gen-harena harena_replay_prepare
	python3 bench/replay/run.py $(ARGS)

generate: setup  ## Write the checked-in Go code of the .proto files again
	go/tools/generate.sh

##@ Tests
.PHONY: test test-release test-asan test-tsan test-debug test-go test-go-plain test-go-race test-go-debug test-go-oldest test-live test-slow soak test-safety test-hostile model test-valgrind fuzz fuzz-corpus fuzz-go
test: test-release test-asan test-tsan test-go  ## All tests: C++ optimised, under ASan + UBSan, under TSan; then Go

test-release test-asan test-tsan test-debug: test-%: build/%/build.ninja
	cmake --build build/$* -j $(JOBS)
	ctest --preset $* -j $(JOBS) $(CTEST_FLAGS)

test-release:  ## The tests in one build alone; so do test-asan, test-tsan, test-debug

test-go: test-go-plain test-go-race test-go-debug  ## The Go tests: as they are, under the race detector, with the debug tag

# The race detector brings checkptr with it.
test-go-plain test-go-race: test-go-%: setup
	tools/go_test.sh $* $(GO_MODULES)

test-go-debug: setup
	tools/go_test.sh debug go

test-go-oldest: setup  ## The Go tests with the oldest Go that each module admits (downloaded)
	tools/go_test.sh oldest go go/pb go/vet

# Debian's own Python has Debian's packages.
test-live: build/release/build.ninja  ## The live pages of both languages, in headless Chromium (screenshots in out/live)
	tools/setup.sh chromium chromium-driver python3-selenium python3-jsonschema
	cmake --build build/release -j $(JOBS) --target harena_demo_server_codec harena_demo_loader
	/usr/bin/python3 -B bench/live/status_test.py --build-dir build/release
	/usr/bin/python3 -B bench/live/page_test.py --build-dir build/release --out out/live

test-slow: build  ## The tests that take minutes (memory growth over time)
	ctest --test-dir build/release -L '^slow$$' --no-tests=error --output-on-failure

# brpc and tRPC-Cpp are among them where these builds have their servers (docs/brpc.md, docs/trpc.md).
SOAK_SECONDS ?= $(if $(QUICK),30,3600)
BRPC_BUILD ?= build/release
TRPC_BUILD ?= build/release
soak: build/release/build.ninja  ## An hour of honest, hostile and aborted traffic on each framework (QUICK=1, SOAK_SECONDS=n, FRAMEWORKS=...)
	cmake --build build/release -j $(JOBS) --target harena_demo_server_codec
	python3 bench/soak/traffic.py --build-dir build/release --brpc-build-dir $(BRPC_BUILD) \
	  --trpc-build-dir $(TRPC_BUILD) --out out/soak \
	  --seconds $(SOAK_SECONDS) $(if $(QUICK),--quick) $(if $(FRAMEWORKS),--frameworks $(FRAMEWORKS))

# Which builds: a detector may be one sanitizer's.
SAFETY_BUILDS ?= release asan tsan
model:  ## Check the models of the lock-free parts, and that they catch seeded bugs (installs spin; DEEP=1)
	@command -v spin >/dev/null || tools/setup.sh spin
	python3 cpp/tests/models/run.py $(if $(DEEP),--deep)

test-safety: setup $(SAFETY_BUILDS:%=build/%/build.ninja)  ## What must hold against hostile input, misuse and faults, with counts (out/safety)
	JOBS=$(JOBS) tools/test_safety.sh $(SAFETY_BUILDS)

# Debian's own Python has Debian's packages.
test-hostile: build/release/build.ninja  ## Damaged requests, cut anywhere into DATA frames, to both languages' demo servers in every mode (REQUESTS=10000, QUICK=1, ARGS="--seed n")
	cmake --build build/release -j $(JOBS) --target harena_demo_server harena_demo_server_codec
	/usr/bin/python3 -B bench/hostile/run.py --build-dir build/release --out out/hostile $(if $(QUICK),--quick) \
	  $(if $(REQUESTS),--requests $(REQUESTS)) $(ARGS)

test-valgrind: build  ## The C++ unit tests of the optimised build under Valgrind's memcheck (installs valgrind; takes an hour; VALGRIND_TESTS=pattern)
	@command -v valgrind >/dev/null || tools/setup.sh valgrind
	tools/valgrind.sh build/release '$(VALGRIND_TESTS)'

# New inputs are kept, so that the next run goes on where this one stopped. Each ends with a table of what
# was done, and fails when something was found. Without libFuzzer's entropic schedule, whose bookkeeping
# takes nine tenths of the time with corpora as large as the codec's.
SECONDS ?= 60
FUZZ_SECONDS ?= $(SECONDS)
FUZZ_TARGETS ?= pb_codec_fuzz pb_serializer_fuzz pb_budget_fuzz pb_walker_fuzz config_parse_fuzz codegen_plugin_fuzz replay_capture_fuzz live_handler_fuzz
fuzz: build/fuzz/build.ninja  ## The C++ fuzzers: parser, serializer, budgets, their estimate, settings, plugin, captures, the live page; each for SECONDS=n (libFuzzer, clang, ASan + UBSan)
	cmake --build build/fuzz -j $(JOBS) --target $(FUZZ_TARGETS)
	rm -rf out/fuzz/cpp && mkdir -p out/fuzz/cpp
	for target in $(FUZZ_TARGETS); do \
	  echo "fuzz: $$target, $(FUZZ_SECONDS) s"; \
	  mkdir -p build/fuzz/corpus/$$target; \
	  setarch -R "$$(find build/fuzz/cpp build/fuzz/bench -type f -name $$target)" -max_total_time=$(FUZZ_SECONDS) \
	    -timeout=25 -rss_limit_mb=4096 -max_len=4096 -entropic=0 -print_final_stats=1 -artifact_prefix=out/fuzz/$$target- \
	    build/fuzz/corpus/$$target testdata/fuzz/$$target >out/fuzz/cpp/$$target.log 2>&1 \
	    || tail -n 40 out/fuzz/cpp/$$target.log; \
	done
	python3 tools/fuzz_report.py $(FUZZ_TARGETS:%=out/fuzz/cpp/%.log)

# What the fuzzers found worth keeping, without what adds nothing, as the corpora that the tests replay.
fuzz-corpus: build/fuzz/build.ninja
	cmake --build build/fuzz -j $(JOBS) --target $(FUZZ_TARGETS)
	setarch -R python3 tools/fuzz_corpus.py --build-dir build/fuzz --out testdata/fuzz $(FUZZ_TARGETS)

GO_FUZZ_TARGETS ?= arena/FuzzArena pb/FuzzDecode pb/FuzzRoundTrip pb/FuzzLimits pb/FuzzBudget pb/inbound/FuzzDecoder pb/capture/FuzzReader config/FuzzParse
fuzz-go: setup  ## Go's fuzzers, each for SECONDS=n: arenas against a model, the codec against protobuf, budgets, captures, files of settings
	rm -rf out/fuzz/go
	python3 tools/go_fuzz.py --go $(GO) --kept build/fuzz-go --logs out/fuzz/go --seconds $(FUZZ_SECONDS) \
	  --jobs $(JOBS) $(GO_FUZZ_TARGETS:%=go/%)
	python3 tools/fuzz_report.py $(foreach target,$(GO_FUZZ_TARGETS),out/fuzz/go/$(notdir $(target)).log)

##@ Rules
.PHONY: check check-format check-layers check-docs check-deploy check-versions check-go check-vulns check-headers check-tidy check-dependencies sbom format
check: check-format check-layers check-docs check-deploy check-versions check-go check-vulns check-dependencies check-headers check-tidy  ## Format, layers, file sizes, docs, tools, Go, known vulnerabilities, headers, clang-tidy

check-format: setup
	@$(CLANG_FORMAT) --dry-run -Werror $(SOURCES) || { echo 'check-format: `make format` mends this' >&2; exit 1; }
	@echo 'format: $(words $(SOURCES)) files, no problem'

check-layers: setup
	python3 tools/check_layers.py
	python3 tools/check_layers_test.py --quiet

check-docs: setup
	python3 tools/check_docs.py
	python3 tools/check_docs_test.py --quiet

check-deploy: setup  ## Dashboard and alert rules against docs/metrics.md and by promtool (installs prometheus); the schema of settings
	@command -v promtool >/dev/null || tools/setup.sh prometheus
	@tools/setup.sh python3-jsonschema python3-yaml
	python3 tools/check_deploy.py
	python3 tools/check_deploy_test.py --quiet
	/usr/bin/python3 -B deploy/schema_test.py --quiet

check-versions: setup
	python3 tools/check_versions.py
	python3 tools/check_versions_test.py --quiet

# Says so, and succeeds, where Go's database of vulnerabilities cannot be reached.
check-vulns: setup  ## Known vulnerabilities in what the Go modules call (govulncheck)
	tools/go_vulns.sh $(GO_MODULES)

# On a machine of CI what is outdated is brought up to date first: nobody else will.
check-dependencies: sbom  ## Known vulnerabilities in the libraries that the C++ build is linked with
	python3 tools/check_dependencies.py $(if $(CI),--upgrade) out/sbom/harena-cpp.cdx.json
	python3 tools/check_dependencies_test.py --quiet

check-go: setup  ## gofmt, go vet, staticcheck, go.mod files and generated code
	tools/go_check.sh $(GO_MODULES)
	go/tools/generate.sh --check

# Each public header compiles by itself.
check-headers: build/release/build.ninja
	cmake --build build/release -j $(JOBS) --target all_verify_interface_header_sets

check-tidy: build/release/build.ninja
	$(RUN_CLANG_TIDY) -quiet -j $(JOBS) -p build/release '^$(CURDIR)/cpp/(harena|codegen)/(?!(.*/)?test_).*(?<!_test)(?<!_bench)(?<!_fuzz)\.cc$$'

format: setup  ## Rewrite the C++ and Go files in the project's format
	@$(CLANG_FORMAT) -i $(SOURCES)
	@$(dir $(GO))gofmt -w go bench/go

##@ Pictures
.PHONY: dashboard
# Debian's own Python, which has its packages.
dashboard: build/release/build.ninja  ## The dashboard's panels, of a real Prometheus that scrapes the demo (installs prometheus; out/dashboard)
	tools/setup.sh prometheus python3-matplotlib
	cmake --build build/release -j $(JOBS) --target harena_demo_server_codec harena_demo_loader
	/usr/bin/python3 -B deploy/render.py --build-dir build/release --out out/dashboard $(if $(QUICK),--seconds 20)

##@ Benchmarks
.PHONY: bench bench-messages bench-codegen bench-mem bench-budgets bench-budgets-instructions bench-safety bench-safety-rpc bench-safety-rpc-instructions bench-metrics bench-brpc bench-go
bench: bench-messages bench-codegen bench-mem bench-go  ## All of these

bench-messages: build/release/build.ninja  ## Cost of one request's messages per mode, allocator and payload (SIZES=1)
	cmake --build build/release -j $(JOBS) --target harena_bench_messages harena_bench_messages_codec \
	  harena_alloc_count
	python3 bench/messages/run.py --build-dir build/release --out out/bench/messages.json \
	  $(if $(QUICK),--quick) $(if $(SIZES),--sizes)

bench-codegen: build/release/build.ninja  ## What the generated codec adds to a .pb.cc: code size, compile time
	cmake --build build/release -j $(JOBS) --target harena_bench_proto harena_bench_codec_proto
	python3 bench/messages/codegen_cost.py --build-dir build/release --out out/bench/codegen.json \
	  $(if $(QUICK),--times 1)

bench-mem: build/release/build.ninja  ## The memory core against malloc implementations and std::pmr
	cmake --build build/release -j $(JOBS) --target mem_bench scope_bench
	python3 bench/mem/run.py --bin build/release/cpp/harena/mem/mem_bench \
	  --bin build/release/cpp/harena/scope/scope_bench $(if $(QUICK),--quick)

bench-budgets: build/release/build.ninja  ## What a request's limits cost while it is parsed, per mode
	cmake --build build/release -j $(JOBS) --target pb_budget_bench
	build/release/cpp/harena/pb/pb_budget_bench --benchmark_repetitions=5 \
	  --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true

bench-budgets-instructions: build/release/build.ninja  ## The same in instructions, for machines that others use too (installs valgrind; 3 minutes)
	@command -v valgrind >/dev/null || tools/setup.sh valgrind
	cmake --build build/release -j $(JOBS) --target pb_budget_bench
	python3 bench/safety/instructions.py --build-dir build/release

bench-safety: build/release/build.ninja  ## What quarantine and each part of hardening cost a request, per mode (QUICK=1)
	cmake --build build/release -j $(JOBS) --target harena_bench_safety
	build/release/bench/safety/harena_bench_safety $(if $(QUICK),--rounds 3 --slice-ms 5)

bench-safety-rpc: build/release/build.ninja  ## What budgets, quarantine and hardening cost a whole RPC, per mode: 10 minutes (QUICK=1, ARGS="--only budgets")
	cmake --build build/release -j $(JOBS) --target harena_demo_server harena_demo_server_codec \
	  harena_demo_loader harena_alloc_count
	python3 bench/safety/rpc.py --build-dir build/release --out out/bench/safety-rpc.json \
	  $(if $(QUICK),--rounds 2 --slice-seconds 0.2 --payloads ranking_8k) $(ARGS)

bench-safety-rpc-instructions: build/release/build.ninja  ## What limits add to a whole RPC in instructions, for machines that others use too (installs valgrind; 10 minutes)
	@command -v valgrind >/dev/null || tools/setup.sh valgrind
	cmake --build build/release -j $(JOBS) --target harena_demo_server harena_demo_server_codec \
	  harena_demo_loader harena_alloc_count
	python3 bench/safety/rpc_instructions.py --build-dir build/release --out out/bench/safety-rpc-instructions.json \
	  $(ARGS)

bench-metrics: build/release/build.ninja  ## What being scraped and looked at costs a server, per RPC, C++ and Go (QUICK=1)
	cmake --build build/release -j $(JOBS) --target harena_demo_server_codec harena_demo_loader scope_bench
	python3 -B bench/metrics/run.py --build-dir build/release $(if $(QUICK),--quick)

bench-brpc: build/release/build.ninja  ## A real brpc server in every memory mode, where brpc is found (QUICK=1, FULL=1)
	cmake --build build/release -j $(JOBS) --target harena_brpc_bench
	python3 bench/brpc/run.py --build-dir build/release --out out/bench-brpc \
	  $(if $(QUICK),--quick) $(if $(FULL),--full)

bench-go: setup  ## The Go arena, codec and gRPC adapter against their rivals
	python3 bench/go/run.py --out out/bench/go.json $(if $(QUICK),--quick)

##@ Docs
.PHONY: docs
# MkDocs and what it needs are PyPI's, in the versions that the file names.
DOCS_PYTHON = build/docs-python
$(DOCS_PYTHON)/bin/mkdocs: tools/docs_requirements.txt
	@tools/setup.sh doxygen python3-venv
	rm -rf $(DOCS_PYTHON)
	python3 -m venv $(DOCS_PYTHON)
	$(DOCS_PYTHON)/bin/pip install --quiet --no-deps --requirement $<
	@touch $@

# In a module made here: `go install` asks the module proxy for a list of versions that it does not give.
build/go-tools/gomarkdoc: tools/versions.env | setup
	rm -rf build/gomarkdoc
	mkdir -p build/gomarkdoc build/go-tools
	go=$(GO); cd build/gomarkdoc && export GOWORK=off && "$$go" mod init gomarkdoc.build && \
	  "$$go" get github.com/princjef/gomarkdoc/cmd/gomarkdoc@$(GOMARKDOC_VERSION) && \
	  "$$go" build -o ../go-tools/ github.com/princjef/gomarkdoc/cmd/gomarkdoc

docs: setup $(DOCS_PYTHON)/bin/mkdocs build/go-tools/gomarkdoc  ## The docs site with the API of both languages, in out/site; a broken link fails
	python3 tools/check_docs.py
	NO_MKDOCS_2_WARNING=1 python3 tools/docs_site.py --go $(GO) --gomarkdoc $(CURDIR)/build/go-tools/gomarkdoc \
	  --mkdocs $(CURDIR)/$(DOCS_PYTHON)/bin/mkdocs
	python3 tools/docs_site_test.py --quiet

##@ Package
.PHONY: package test-packages test-reproducible test-bazel test-modules test-protobuf install clean
PACKAGES = out/packages
package: setup  ## The Debian packages, checked by lintian, and what they are made from, in out/packages
	@tools/setup.sh debhelper dh-python dpkg-dev help2man lintian
	JOBS=$(JOBS) packaging/build_debs.sh $(PACKAGES)
	lintian --fail-on error,warning $(PACKAGES)/*.deb

test-packages: package  ## Install the packages in a clean Debian (chroot; root) and run the README's example there
	@tools/setup.sh mmdebstrap iproute2
	python3 packaging/test/test_packages.py $(PACKAGES)

test-reproducible: setup  ## Build the packages twice, differently, and compare the bytes
	@tools/setup.sh debhelper dh-python dpkg-dev help2man
	JOBS=$(JOBS) packaging/test/test_reproducible.sh out/reproducible

test-bazel: setup  ## Build the Bazel targets with Debian's bazel against the system's libraries
	@tools/setup.sh bazel-bootstrap bazel-rules-java bazel-rules-proto
	JOBS=$(JOBS) packaging/bazel/test_bazel.sh out/bazel

test-modules: setup  ## Build a user's Go module from the modules as the next release would tag them
	python3 tools/release_test.py --quiet
	python3 packaging/test/test_modules.py --go $(GO)

# What each protobuf needs and how it is had: tools/protobuf_versions/versions.json.
VERSIONS ?=
test-protobuf: setup  ## The C++ tests with each protobuf that can be had, hours without ccache: VERSIONS="3.21 36" (table and results.json in out/protobuf; root for 36)
	@tools/setup.sh mmdebstrap zlib1g-dev
	python3 -B tools/protobuf_versions/run.py --jobs $(JOBS) --versions $(VERSIONS)

# The layers, and a program that is linked with all of them.
SBOM_LAYERS = base mem guard scope pb config live exporters/prometheus adapters/grpc
SBOM_GO_MODULES = $(filter-out bench/% go/tools,$(GO_MODULES))
sbom: build/release/build.ninja  ## What Harena is built from, as CycloneDX, in out/sbom
	cmake --build build/release -j $(JOBS) --target $(foreach layer,$(SBOM_LAYERS),harena_$(notdir $(layer))) \
	  protoc-gen-harena harena_replay_prepare harena_example_server
	python3 tools/sbom.py cpp --build-dir build/release --out out/sbom/harena-cpp.cdx.json \
	  $(foreach layer,$(SBOM_LAYERS),build/release/cpp/harena/$(layer)/libharena_$(notdir $(layer)).a) \
	  build/release/cpp/codegen/protoc-gen-harena build/release/bench/replay/harena_replay_prepare build/release/cpp/examples/harena_example_server
	python3 tools/sbom.py go --go $(GO) --out out/sbom/harena-go.cdx.json $(SBOM_GO_MODULES)
	python3 tools/sbom_test.py --quiet

install: build  ## Install the library, headers, CMake package and pkg-config files (PREFIX, DESTDIR)
	DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

clean:  ## Remove everything that was built or measured
	rm -rf build out

# Ninja configures again by itself when a CMake file changes; only the first time is ours.
build/asan/build.ninja build/fuzz/build.ninja build/tsan/build.ninja: export CXX = $(SANITIZER_CXX)
build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*
	@touch $@
