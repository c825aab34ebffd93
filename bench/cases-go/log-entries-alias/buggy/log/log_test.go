package log

import "testing"

func TestEntries(t *testing.T) {
	var l Log
	l.Write("a")
	l.Write("b")
	got := l.Entries()
	if len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("%v", got)
	}
}

func TestLen(t *testing.T) {
	var l Log
	l.Write("a")
	if l.Len() != 1 {
		t.Error("not 1")
	}
}

func TestEntriesAreOwn(t *testing.T) {
	var l Log
	l.Write("a")
	l.Entries()[0] = "changed"
	if got := l.Entries()[0]; got != "a" {
		t.Errorf("%q, want a", got)
	}
}
