package stack

import "testing"

func TestPushPop(t *testing.T) {
	var s Stack
	s.Push(1)
	s.Push(2)
	if n, ok := s.Pop(); n != 2 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if n, ok := s.Pop(); n != 1 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
}

func TestPeek(t *testing.T) {
	var s Stack
	if _, ok := s.Peek(); ok {
		t.Error("something on an empty stack")
	}
}

func TestPopEmpty(t *testing.T) {
	var s Stack
	if n, ok := s.Pop(); n != 0 || ok {
		t.Errorf("%d, %v", n, ok)
	}
}
