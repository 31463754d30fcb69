package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		if content, err := os.ReadFile(name); err == nil && strings.Contains(string(content), "PRECEDENT_CANARY=") {
			fmt.Println("ESCAPED:", name)
		}
	}
	port, _ := strconv.Atoi(os.Getenv("TRAP_PORT"))
	for _, address := range []syscall.SockaddrInet4{{Port: port, Addr: [4]byte{127, 0, 0, 1}}, {Port: 443, Addr: [4]byte{192, 0, 2, 1}}} {
		s, _ := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		if err := syscall.Connect(s, &address); err == nil {
			fmt.Println("ESCAPED: connected to", address)
		}
	}
	survivor := exec.Command("sleep", os.Getenv("TRAP_MARKER"))
	survivor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = survivor.Start()
	out, _ := exec.Command("sh", "attack.sh", "go").CombinedOutput()
	fmt.Print(string(out))
	os.Exit(m.Run())
}

func TestNothing(*testing.T) {}
