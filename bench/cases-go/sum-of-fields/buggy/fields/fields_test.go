package fields

import "testing"

func TestSum(t *testing.T) {
	got, err := Sum("1 2 39")
	if err != nil || got != 42 {
		t.Errorf("%d, %v", got, err)
	}
}

func TestSumOfNothing(t *testing.T) {
	got, err := Sum("")
	if err != nil || got != 0 {
		t.Errorf("%d, %v", got, err)
	}
}

func TestSumBroken(t *testing.T) {
	if _, err := Sum("1 x 2"); err == nil {
		t.Error("no error")
	}
}

func TestLargest(t *testing.T) {
	got, err := Largest("-5 -2 -9")
	if err != nil || got != -2 {
		t.Errorf("%d, %v", got, err)
	}
}
