package votes

import "testing"

func tally(yes, no int) *Tally {
	t := &Tally{}
	for i := 0; i < yes; i++ {
		t.Add(true)
	}
	for i := 0; i < no; i++ {
		t.Add(false)
	}
	return t
}

func TestNone(t *testing.T) {
	if tally(0, 0).Share() != 0 {
		t.Error("not 0")
	}
}

func TestAll(t *testing.T) {
	if tally(3, 0).Share() != 1 {
		t.Error("not 1")
	}
}

func TestShare(t *testing.T) {
	if got := tally(1, 3).Share(); got != 0.25 {
		t.Errorf("share %v, want 0.25", got)
	}
}
