package doctor

import "golang.org/x/sys/windows"

// freeSpace is how many bytes a user may still write below dir.
func freeSpace(dir string) (free uint64, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	}
	return free, err
}
