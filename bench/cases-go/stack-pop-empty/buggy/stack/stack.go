package stack

// Stack keeps numbers, the last one on top.
type Stack struct {
	items []int
}

// Push puts one on top.
func (s *Stack) Push(n int) {
	s.items = append(s.items, n)
}

// Pop takes the top one off; false where there is none.
func (s *Stack) Pop() (int, bool) {
	top := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return top, true
}

// Peek is the top one; false where there is none.
func (s *Stack) Peek() (int, bool) {
	if len(s.items) == 0 {
		return 0, false
	}
	return s.items[len(s.items)-1], true
}
