//go:build !linux && !darwin && !windows

package doctor

import "errors"

func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
