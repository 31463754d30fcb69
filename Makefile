# Development tasks. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help check test quick soak fmt vet lint golden eval bench demo run build release changelog site man deps tools fuzz cover clean size

GO ?= go
TOOLS := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint
GOLANGCI_VERSION := v2.15.0
DEADCODE_VERSION := v0.51.0
# Later versions need modules that are not to be had everywhere.
NFPM_VERSION := v2.45.2
# The runner of GitHub's workflows from which those of Gitea and Forgejo are made.
ACT_VERSION := v0.2.89
FUZZTIME ?= 20s
# The race detector ignores SQLite, which is C translated to Go, and regular expressions, which only read strings. They take
# several times as long with it. Code that uses generic types must not be added: the linker keeps one copy of each
# instance, and without the detector an atomic.Pointer of that copy looks like a race elsewhere.
RACE := -race -gcflags='modernc.org/...=-race=false' -gcflags='regexp/...=-race=false'
# Many tests wait for other processes or for the disk, so more run at once than there are processors. make vet does -vet.
AT_ONCE := -p 4 -parallel 8 -vet=off
SUMMARY := $(GO) run ./scripts/testsummary

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: deps fmt vet lint test ## check formatting, vet, lint, and run the tests; every pull request must pass it

test: deps ## run all tests but the long ones, those of the packages with the race detector
	PRECEDENT_TEST_ALL=1 $(SUMMARY) $(RACE) $(AT_ONCE) -timeout 40m ./internal/...
	PRECEDENT_TEST_ALL=1 $(SUMMARY) $(AT_ONCE) -timeout 40m . ./cmd/... ./scripts/...

quick: ## run the tests that need only Go and git, and list what was skipped and why
	$(SUMMARY) ./...

soak: deps $(TOOLS)/act ## run all tests in their full form, up to an hour; when it was stopped or failed, it goes on with the others
	PRECEDENT_TEST_ALL=1 PRECEDENT_TEST_SOAK=1 $(SUMMARY) -resume .tools/soak -count=1 -parallel 8 -vet=off -timeout 60m ./...

deps: $(TOOLS)/nfpm ## fetch what make test needs into .tools; as root on Debian, install the rest
	@sh scripts/testdeps.sh
	@sh scripts/testclaude.sh
	@sh scripts/testmcp.sh
	@sh scripts/testformats.sh
	@sh scripts/testforge.sh
	@sh scripts/testhooks.sh
	@sh scripts/testmanagers.sh

fmt: ## fail if a file is not formatted
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not formatted (gofmt -w):"; echo "$$out"; exit 1; }

vet: ## run go vet
	$(GO) vet ./...

lint: $(GOLANGCI) ## run golangci-lint, and fail if there is dead code
	$(GOLANGCI) run ./...
	@out=$$($(TOOLS)/deadcode -test ./...); test -z "$$out" || { echo "not called:"; echo "$$out"; exit 1; }
	@out=$$($(TOOLS)/deadcode ./cmd/precedent ./cmd/precedent-eval | grep -v 'enginetest' || true); test -z "$$out" || { echo "called only by tests:"; echo "$$out"; exit 1; }

tools: $(GOLANGCI) ## build the linters into .tools

$(GOLANGCI):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	GOBIN=$(TOOLS) $(GO) install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)

golden: ## update the golden files; read the diff before you commit it
	$(GO) test ./internal/comment ./internal/guide ./internal/mcp ./internal/prompt ./internal/report -update
	$(GO) test ./internal/lint -run '^TestDocs' -update
	$(GO) test ./internal/web -run '^TestBrowserForEverybody' -update
	$(GO) test ./cmd/precedent -run '^TestReference' -update
	$(GO) test ./scripts/site -run '^TestDemoPicture' -update

eval: ## measure on a folder of changes how well findings are placed: make eval DIR=...
	@test -n "$(DIR)" || { echo "usage: make eval DIR=folder with <change>/diff.patch and meta.json"; exit 2; }
	$(GO) run ./cmd/precedent-eval anchor $(DIR)
	$(GO) run ./cmd/precedent-eval anchor $(DIR) --noisy

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## run each fuzz target for FUZZTIME
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

demo: ## run the demo: review, dismiss a finding, review again
	$(GO) run ./cmd/precedent demo

run: ## review the last change of this repository
	$(GO) run ./cmd/precedent review

build: ## build a static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/precedent ./cmd/precedent

release: $(TOOLS)/nfpm ## build archives, packages and checksums for all platforms in dist/; KEY=FILE signs them, PLATFORMS limits them, BASE=DIR makes an image
	rm -rf dist
	sh scripts/release.sh $(PLATFORMS)
	$(MAKE) man
	$(GO) run ./scripts/package -nfpm $(TOOLS)/nfpm -key "$(KEY)" -version "$(VERSION)" -base "$(BASE)"

changelog: ## move the notes in changes/ into CHANGELOG.md: make changelog VERSION=v1.2.3, before the tag
	$(GO) run ./scripts/changelog $(VERSION)

site: ## make the documentation site in dist/site
	$(GO) run ./scripts/site dist/site

$(TOOLS)/nfpm:
	GOBIN=$(TOOLS) $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)

$(TOOLS)/act:
	GOBIN=$(TOOLS) $(GO) install github.com/nektos/act@$(ACT_VERSION)

size: ## print what compiling from nothing costs by module, and fail above the bounds; minutes
	$(GO) run ./scripts/size

man: ## write the manual pages to dist/man
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) test ./cmd/precedent -count=1 -run '^TestManPages$$' -man "$(CURDIR)/dist/man"

cover: ## show test coverage by function
	$(GO) test -coverprofile coverage.out ./... && $(GO) tool cover -func coverage.out

clean: ## remove build output and .tools
	rm -rf bin dist .tools coverage.out
