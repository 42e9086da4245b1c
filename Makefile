SHELL := /usr/bin/env bash -euo pipefail -c
.DEFAULT_GOAL := help

GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.8.0
GREMLINS      := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
FUZZTIME      ?= 50000x
# Each mutant costs a build and the tests of its package, so these are packages with fast tests.
MUTANTS       ?= batch config fair feedback password search
# Like a release, so that Go compiles the packages of both once.
export CGO_ENABLED := 0
export GOFLAGS += -trimpath

# Debian installs nginx in a folder that is only in root's PATH.
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: help
help: ## List all commands.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

.PHONY: test
test: ## Install what is missing and run the tests that every change must pass.
	@.ci/install
	@.ci/gate

# Takes about an hour.
.PHONY: proof
proof: ## Run everything that is too long for make test, one package after the other.
	@.ci/install proof
	@.ci/proof
	@$(MAKE) --no-print-directory fuzz FUZZTIME=10000x

.PHONY: check
check: lint generated vuln ## Check style, generated files and known vulnerabilities.

.PHONY: test-go
test-go: ## Run the tests that this machine can run, without the race detector.
	go test ./...

.PHONY: lint
lint: ## Check the style of the code.
	go run $(GOLANGCI_LINT) run ./...
	cd clients/go && go run $(GOLANGCI_LINT) run ./...

.PHONY: generate
generate: $(foreach folder,web/widget web/dashboard clients/ts clients/react,$(folder)/node_modules) ## Update the generated files.
	go generate ./...
	cd clients/go && go generate ./...
	npm run --silent --prefix clients/ts types >/dev/null
	npm run --silent --prefix clients/ts check
	npm run --silent --prefix clients/react types
	npm run --silent --prefix clients/react check
	npm run --silent --prefix web/widget check
	npm run --silent --prefix web/widget build
	npm run --silent --prefix web/dashboard check
	npm run --silent --prefix web/dashboard build

%/node_modules: %/package-lock.json
	npm ci --prefix $* --no-audit --no-fund
	@touch $@

# Compares the state before and after, so that it also works with uncommitted changes.
.PHONY: generated
generated: ## Check that generating changes nothing.
	@state() { git diff; git ls-files -z --others --exclude-standard | xargs -0r sha256sum; }; \
	before=$$(state); $(MAKE) --no-print-directory generate; \
	diff <(echo "$$before") <(echo "$$(state)") || { echo 'Generated files were out of date. Commit the changes that "make generate" made.' >&2; exit 1; }

# FUZZTIME counts inputs, because Go reports a failure at random when a duration ends
# (golang.org/issue/75804). By default, Go spends up to a minute to shorten one input.
.PHONY: fuzz
fuzz: ## Run every fuzz target with FUZZTIME (50000x) inputs.
	@targets=$$(git grep --untracked -o '^func Fuzz\w*' -- '*_test.go' | sed -E 's|(.*)/.*:func |./\1 |') || \
		{ echo 'There are no fuzz targets.' >&2; exit 1; }; \
	while read -r package name; do \
		echo "$$package $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "$$package" </dev/null; \
	done <<<"$$targets"

# The tool derives its time limit from a run of the tests, which must not be cached. It counts
# mutants that do not compile as killed.
.PHONY: mutants
mutants: ## List code changes that no test detects, for example with MUTANTS='fair search'.
	@for package in $(MUTANTS); do \
		GOFLAGS=-count=1 nice go run $(GREMLINS) unleash --workers 1 --timeout-coefficient 20 -S ltv \
			--invert-logical --invert-loopctrl --invert-assignments --remove-self-assignments --invert-bitwise --invert-bwassign ./internal/$$package; \
	done

.PHONY: bench
bench: ## Measure the service and the machine, for example with BENCH='-sizes 1000'.
	go run ./bench $(BENCH)

.PHONY: release
release: ## Build the files of a release in dist/, with VERSION=1.2.3. Needs dpkg-deb and rpmbuild.
	go run ./release -version "$(VERSION)"

# Takes about two hours. docs/reliability.md has the results.
.PHONY: torture
torture: ## Run the long form of all failure tests as root, for example with TORTURE='-run PowerCut'.
	@.ci/install proof
	REQUIRE=postgres,nginx,s3,toxiproxy,root,ext4,xfs,strace,patroni go test -count 1 -timeout 4h -v ./torture $(TORTURE) -full
	go test -count 1 -timeout 1h -v ./internal/api/machine -rapid.checks=5000
	go test -count 1 -timeout 1h -v ./internal/api -run 'Paging|JSONLines' -rapid.checks=1000
	go test -count 1 -timeout 1h -v ./internal/store -run 'Comments|VotesAndMerges' -rapid.checks=1000
	go test -count 1 -timeout 1h -v ./internal/index -run 'Naive|IndexFollows|Set|TagRows' -rapid.checks=1000
	go test -count 1 -timeout 1h -v ./internal/api -run Linearizable -histories=200
	go test -count 1 -timeout 1h -v ./e2e -run 'TestWidgetChaos|TestDashboard/many' -full

.PHONY: build
build: ## Build bin/gatherkit.
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/gatherkit ./cmd/gatherkit

.PHONY: demo
demo: ## Run the demo on a temporary folder.
	go run ./cmd/gatherkit demo

# govulncheck also fails if its database cannot be reached, which says nothing about the code.
.PHONY: vuln
vuln: ## Check for known vulnerabilities if their database can be reached.
	@GOBIN=$(CURDIR)/bin go install $(GOVULNCHECK); \
	status=0; output=$$(timeout 300 bin/govulncheck ./... 2>&1) || status=$$?; \
	echo "$$output"; \
	if [ $$status -ne 0 ] && grep -q 'fetching vulnerabilities' <<<"$$output"; then \
		echo 'NOT CHECKED: the vulnerability database cannot be reached from here.'; \
	else exit $$status; fi
