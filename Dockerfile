# Precedent as a container: the static program, and git, which it runs.
#
#   docker build -t precedent .
#   docker run --rm -v "$PWD:/repo" -u "$(id -u):$(id -g)" precedent review
#
# Without -u it runs as a user that owns nothing; then the memory of a repository
# that belongs to somebody else cannot be written, and the review says so.

# The version of Go is that of go.mod.
FROM golang:1.26-alpine AS build
# git is here for the stamp of the commit.
# hadolint ignore=DL3018
RUN apk add --no-cache git
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /precedent ./cmd/precedent

FROM alpine:3.22
# Alpine drops the old version of a package with the next: a pinned one breaks
# the build at some later day.
# hadolint ignore=DL3018
RUN apk add --no-cache ca-certificates git && adduser -D -u 10001 precedent
COPY --from=build /precedent /usr/local/bin/precedent
USER 10001
WORKDIR /repo
ENTRYPOINT ["precedent"]
CMD ["review"]
