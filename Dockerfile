# Precedent in a container: the static binary, git, which it runs, and bubblewrap, which keeps
# the code of pull requests in a sandbox.
#
#   docker build -t precedent .
#   docker run --rm -v "$PWD:/repo" -u "$(id -u):$(id -g)" precedent review
#   docker compose up                    # a server with PostgreSQL: docs/server.md
#
# Without -u it runs as a user without any files. It then cannot write the memory
# of a repository that belongs to another user, and the review says so.

# The Go version is the one in go.mod.
FROM golang:1.26-alpine AS build
# go build needs git to stamp the commit.
# hadolint ignore=DL3018
RUN apk add --no-cache git
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /precedent ./cmd/precedent

FROM alpine:3.22
# Alpine removes old versions of packages, so a pinned version would break the
# build later.
# hadolint ignore=DL3018
RUN apk add --no-cache bubblewrap ca-certificates git && adduser -D -u 10001 precedent && \
    mkdir -p /data/precedent && chown -R 10001:10001 /data && chmod 700 /data/precedent
COPY --from=build /precedent /usr/local/bin/precedent
USER 10001
ENV XDG_DATA_HOME=/data XDG_CACHE_HOME=/data/cache
VOLUME /data
WORKDIR /repo
ENTRYPOINT ["precedent"]
CMD ["review"]
