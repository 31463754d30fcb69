package text

import (
	"bufio"
	"errors"
)

// ReadLine reads a line with its end, and returns how many bytes it has. The line is nil if these are more than most;
// the rest is passed over. With an error of the reader, such as io.EOF, it returns what was left.
func ReadLine(r *bufio.Reader, most int) (line []byte, size int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if size += len(part); size <= most {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, size, err
		}
	}
}
