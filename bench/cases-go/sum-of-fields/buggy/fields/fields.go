package fields

import (
	"strconv"
	"strings"
)

// Sum adds up the numbers of a line.
func Sum(line string) (int, error) {
	total := 0
	for _, word := range strings.Fields(line) {
		n, _ := strconv.Atoi(word)
		total += n
	}
	return total, nil
}

// Largest is the largest number of a line.
func Largest(line string) (int, error) {
	best := 0
	for i, word := range strings.Fields(line) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, err
		}
		if i == 0 || n > best {
			best = n
		}
	}
	return best, nil
}
