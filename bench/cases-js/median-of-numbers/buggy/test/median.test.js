import assert from "node:assert/strict";
import test from "node:test";
import { mean, median, range } from "../src/stats.js";

test("mean", () => assert.equal(mean([1, 2, 6]), 3));
test("median of an odd count", () => assert.equal(median([3, 1, 2]), 2));
test("median of an even count", () => assert.equal(median([4, 1, 3, 2]), 2.5));
test("median of large numbers", () => assert.equal(median([100, 9, 10]), 10));
test("the numbers stay as they are", () => {
  const numbers = [2, 1];
  median(numbers);
  assert.deepEqual(numbers, [2, 1]);
});
test("range", () => assert.equal(range([5, 1, 3]), 4));
