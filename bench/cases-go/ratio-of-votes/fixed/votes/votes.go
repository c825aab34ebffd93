package votes

// Tally counts the votes for and against.
type Tally struct {
	For, Against int
}

// Add counts one vote.
func (t *Tally) Add(yes bool) {
	if yes {
		t.For++
	} else {
		t.Against++
	}
}

// Share is the part of the votes that are for, 0 where there are none.
func (t *Tally) Share() float64 {
	all := t.For + t.Against
	if all == 0 {
		return 0
	}
	return float64(t.For) / float64(all)
}
