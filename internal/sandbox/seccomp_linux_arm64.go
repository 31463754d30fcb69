package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

var refusedHere = []uint32{unix.SYS_LOOKUP_DCOOKIE}
