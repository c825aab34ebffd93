package load

import "testing"

func TestTotal(t *testing.T) {
	if got := Total([]int{40, 2, 8}); got != 50 {
		t.Errorf("total %d, want 50", got)
	}
}

func TestTotalOfNothing(t *testing.T) {
	if Total(nil) != 0 {
		t.Error("not 0")
	}
}

func TestHeaviest(t *testing.T) {
	if got := Heaviest([]int{3, 9, 4}); got != 1 {
		t.Errorf("%d, want 1", got)
	}
}
