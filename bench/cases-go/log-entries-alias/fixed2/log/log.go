package log

// Log keeps lines in the order they came.
type Log struct {
	lines []string
}

// Write adds a line.
func (l *Log) Write(line string) {
	l.lines = append(l.lines, line)
}

// Len is the number of lines.
func (l *Log) Len() int {
	return len(l.lines)
}

// Entries are all lines; the caller may do with them as it likes.
func (l *Log) Entries() []string {
	return append([]string{}, l.lines...)
}
