package load

// Total is the weight of a whole load, in kilograms.
func Total(weights []int) int {
	total := 0
	for weight := range weights {
		total += weight
	}
	return total
}

// Heaviest is the place of the heaviest piece, -1 for an empty load.
func Heaviest(weights []int) int {
	best := -1
	for i, weight := range weights {
		if best < 0 || weight > weights[best] {
			best = i
		}
	}
	return best
}
