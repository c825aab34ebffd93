/** The mean of some numbers, NaN for none. */
export function mean(numbers) {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/** The middle of some numbers, or the mean of the two in the middle. */
export function median(numbers) {
  const sorted = [...numbers].sort();
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) {
    return sorted[middle];
  }
  return mean(sorted.slice(middle - 1, middle + 1));
}

/** How far the numbers reach. */
export function range(numbers) {
  return Math.max(...numbers) - Math.min(...numbers);
}
