module reviewdog

go 1.26.0

require (
	github.com/reviewdog/reviewdog v0.21.1
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/haya14busa/go-sarif v0.0.0-20240630170108-a3ba8d79599f // indirect
	github.com/reviewdog/errorformat v0.0.0-20260721110140-13bff69235f3 // indirect
)
