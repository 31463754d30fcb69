# The habits of this project. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help check test quick fmt vet lint golden eval bench demo run build release man deps tools fuzz cover clean

GO ?= go
TOOLS := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint
GOLANGCI_VERSION := v2.15.0
DEADCODE_VERSION := v0.51.0
FUZZTIME ?= 20s

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: fmt vet lint test ## format, vet, lint, and the tests with the race detector

test: deps ## all tests with the race detector, none of them skipped for want of anything
	PRECEDENT_TEST_ALL=1 $(GO) run ./scripts/testsummary -race -timeout 30m ./...

quick: ## the tests that need Go and git alone, and in the end what was skipped and why
	$(GO) run ./scripts/testsummary ./...

deps: ## fetch what make test needs into .tools; installs the rest as root on Debian
	@sh scripts/testdeps.sh
	@sh scripts/testclaude.sh
	@sh scripts/testformats.sh
	@sh scripts/testforge.sh
	@sh scripts/testhooks.sh

fmt: ## fail if a file is not formatted
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not formatted (gofmt -w):"; echo "$$out"; exit 1; }

vet: ## go vet
	$(GO) vet ./...

lint: $(GOLANGCI) ## golangci-lint, and code that nothing reaches
	$(GOLANGCI) run ./...
	@out=$$($(TOOLS)/deadcode -test ./...); test -z "$$out" || { echo "nothing calls:"; echo "$$out"; exit 1; }
	@out=$$($(TOOLS)/deadcode ./cmd/precedent | grep -v 'enginetest' || true); test -z "$$out" || { echo "only tests call:"; echo "$$out"; exit 1; }

tools: $(GOLANGCI) ## build the linters into .tools

$(GOLANGCI):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	GOBIN=$(TOOLS) $(GO) install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)

golden: ## write the golden files anew; read the difference before you commit it
	$(GO) test ./internal/comment ./internal/guide ./internal/prompt ./internal/report -update
	$(GO) test ./internal/lint -run '^TestDocs' -update
	$(GO) test ./cmd/precedent -run '^TestReference' -update

eval: ## placing quality over a folder of changes: make eval DIR=...
	@test -n "$(DIR)" || { echo "usage: make eval DIR=folder with <change>/diff.patch and meta.json"; exit 2; }
	$(GO) run ./cmd/precedent eval anchor $(DIR)
	$(GO) run ./cmd/precedent eval anchor $(DIR) --noisy

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## each fuzz target for FUZZTIME
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

demo: ## find, dismiss, review again, remembered
	$(GO) run ./cmd/precedent demo

run: ## review this repository's own last change
	$(GO) run ./cmd/precedent review

build: ## a static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/precedent ./cmd/precedent

release: ## static programs for all platforms in dist/, with checksums and bills of materials
	sh scripts/release.sh

man: ## the manual pages in dist/man
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) test ./cmd/precedent -count=1 -run '^TestManPages$$' -man "$(CURDIR)/dist/man"

cover: ## test coverage by function
	$(GO) test -coverprofile coverage.out ./... && $(GO) tool cover -func coverage.out

clean: ## remove what was built
	rm -rf bin dist .tools coverage.out
