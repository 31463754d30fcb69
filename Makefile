# Development tasks. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help check test quick soak fmt vet lint golden eval bench demo run build release man deps tools fuzz cover clean size

GO ?= go
TOOLS := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint
GOLANGCI_VERSION := v2.15.0
DEADCODE_VERSION := v0.51.0
FUZZTIME ?= 20s
# The packages of PURE start no goroutine: the race detector finds nothing in them, and makes their tests ten times as slow.
PURE := $(addprefix ./internal/,chat comment diff guide markdown match report sarif secret settings text thread)
# The race detector ignores SQLite, which is C translated to Go, and regular expressions, which only read strings. They take
# several times as long with it.
RACE := -race -gcflags='modernc.org/...=-race=false' -gcflags='regexp/...=-race=false'
# With the race detector, random tests run few rounds (needs.Rounds), and tests in which it finds nothing are skipped
# (needs.WithoutRace). -again runs these tests of these packages without it. TestRounds checks that none is missing.
ROUNDS := $(addprefix ./internal/,corpus engine eval forge/gitea gate git lint portable post queue review sandbox search store)
# Many tests wait for other processes, for the disk or for a lease, so more run at once than there are processors.
AT_A_TIME := -p 4 -parallel 4 -vet=off # make vet does it
# The command starts no goroutine itself. The race detector looks at these of its tests, which have all that it starts elsewhere;
# the others only repeat that with other forges, words and faults. TestAtOnce checks that the names exist.
AT_ONCE := TestAtOnce|TestInterrupt|TestPostAsApp|TestFivePushes|TestPushedWhileItIsReviewed|TestCommands|TestFreeText|TestReplyCommand|TestRequestedChangesAreTakenBack|TestReplayFromTheForge|TestForgeBehindAProxy|TestKnownBadPullRequestWithPoison|TestCanaryAndTheProgram|TestDoctorTries

# These take long: backups while servers work, an idle server, a busy one with many repositories. make soak runs them.
SOAK := TestBackups|TestIdleMemory

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: fmt vet lint test ## check formatting, vet, lint, and run all tests with the race detector

test: deps ## run all tests, skipping none, with the race detector where there are goroutines
	CGO_ENABLED=0 PRECEDENT_TEST_ALL=1 $(GO) run ./scripts/testsummary $(AT_A_TIME) -timeout 30m ./cmd/precedent $(PURE)
	CGO_ENABLED=0 PRECEDENT_TEST_ALL=1 $(GO) run ./scripts/testsummary $(AT_A_TIME) -timeout 30m -again $(ROUNDS)
	PRECEDENT_TEST_ALL=1 $(GO) run ./scripts/testsummary $(RACE) $(AT_A_TIME) -timeout 30m -run '^($(AT_ONCE))$$' ./cmd/precedent
	PRECEDENT_TEST_ALL=1 $(GO) run ./scripts/testsummary $(RACE) $(AT_A_TIME) -timeout 30m $$($(GO) list ./... | grep -vxF "$$($(GO) list $(PURE) ./cmd/precedent)")

quick: ## run the tests that need only Go and git, and list what was skipped and why
	$(GO) run ./scripts/testsummary ./...

soak: ## play stories on the Gitea of PRECEDENT_TEST_GITEA (CONTRIBUTING.md), list stories, kills and seconds, and run $(SOAK)
	@mkdir -p $(TOOLS)
	@PRECEDENT_TEST_FULL=1 $(GO) test -count=1 -timeout 60m -v -run '^($(SOAK))$$' ./cmd/precedent
	@$(GO) test -count=1 -timeout 60m -parallel 8 -v -run '^TestRealGitea' ./cmd/precedent > $(TOOLS)/soak.log; status=$$?; \
	grep -oE '(played|killed|mails): .*|--- (FAIL|SKIP).*|needs a running .*' $(TOOLS)/soak.log; \
	for what in played killed '--- FAIL' '--- SKIP'; do echo "$$what: $$(grep -cE -e "(^| )$$what" $(TOOLS)/soak.log)"; done; exit $$status

deps: ## fetch what make test needs into .tools; as root on Debian, install the rest
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
	@out=$$($(TOOLS)/deadcode ./cmd/precedent | grep -v 'enginetest' || true); test -z "$$out" || { echo "called only by tests:"; echo "$$out"; exit 1; }

tools: $(GOLANGCI) ## build the linters into .tools

$(GOLANGCI):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	GOBIN=$(TOOLS) $(GO) install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION)

golden: ## update the golden files; read the diff before you commit it
	$(GO) test ./internal/comment ./internal/guide ./internal/mcp ./internal/prompt ./internal/report -update
	$(GO) test ./internal/lint -run '^TestDocs' -update
	$(GO) test ./cmd/precedent -run '^TestReference' -update

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

release: ## build static binaries for all platforms in dist/, with checksums and SBOMs
	sh scripts/release.sh

size: ## print what compiling from nothing costs by module, and fail above the bounds; minutes
	$(GO) run ./scripts/size

man: ## write the manual pages to dist/man
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(GO) test ./cmd/precedent -count=1 -run '^TestManPages$$' -man "$(CURDIR)/dist/man"

cover: ## show test coverage by function
	$(GO) test -coverprofile coverage.out ./... && $(GO) tool cover -func coverage.out

clean: ## remove build output and .tools
	rm -rf bin dist .tools coverage.out
