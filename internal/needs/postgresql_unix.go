//go:build unix

package needs

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// otherUser is who owns a cluster if this process is root, which PostgreSQL refuses.
func otherUser() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(u.Uid)
		gid, errGID := strconv.Atoi(u.Gid)
		return uid, gid, errors.Join(errUID, errGID)
	}
	return 0, 0, errors.New("there is no user postgres or nobody")
}

// giveAway makes the owner of a cluster that of files, if this process is root.
func giveAway(paths ...string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := otherUser()
	for _, path := range paths {
		err = errors.Join(err, os.Chown(path, uid, gid))
	}
	return err
}

// runAs has a command run as the owner of a cluster, if this process is root.
func runAs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of a terminal ends it before the tests
	if os.Getuid() != 0 {
		return
	}
	if uid, gid, err := otherUser(); err == nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
