package counter

import "testing"

func TestNew(t *testing.T) {
	if New(3).Count() != 0 {
		t.Error("a new counter isn't zero")
	}
}

func TestAdd(t *testing.T) {
	c := New(10)
	c.Add(2)
	c.Add(3)
	if c.Count() != 5 {
		t.Errorf("count %d, want 5", c.Count())
	}
}

func TestLimit(t *testing.T) {
	c := New(4)
	c.Add(9)
	if !c.Full() {
		t.Error("not full")
	}
}

func TestNotFull(t *testing.T) {
	if New(1).Full() {
		t.Error("full at once")
	}
}
