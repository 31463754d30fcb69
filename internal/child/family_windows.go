package child

import (
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is a program and its descendants: on Windows, a job that kills them all when
// it is closed. It does not include a child that the program starts before join.
type family struct {
	cmd *exec.Cmd

	mu  sync.Mutex
	job windows.Handle // 0 if there is none
}

// adopt prepares cmd, which is not yet started, to have its own family.
func adopt(cmd *exec.Cmd) *family { return &family{cmd: cmd} }

// join is called once the program runs. If Windows refuses a job, the family is only the program.
func (f *family) join() {
	f.mu.Lock()
	defer f.mu.Unlock()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = f.enter(job)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	f.job = job
}

func (f *family) enter(job windows.Handle) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
		uint32(f.cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(job, process)
}

// kill kills the whole family. It may be called repeatedly.
func (f *family) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job != 0 {
		_ = windows.TerminateJobObject(f.job, 1)
	}
	_ = f.cmd.Process.Kill() // it fails if the program has ended
}

// leave is called last.
func (f *family) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job != 0 {
		_ = windows.CloseHandle(f.job)
		f.job = 0
	}
}
