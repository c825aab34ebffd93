import assert from "node:assert/strict";
import test from "node:test";
import { longest, schedule } from "../src/index.js";

test("the usual schedule", () => {
  assert.deepEqual(schedule(), [200, 400, 800]);
});

test("options are taken", () => {
  assert.deepEqual(schedule({ retries: 2, delay: 10, factor: 3 }), [10, 30]);
});

test("no delay is a delay of nothing", () => {
  assert.deepEqual(schedule({ retries: 2, delay: 0 }), [0, 0]);
});

test("no retries", () => {
  assert.deepEqual(schedule({ retries: 0 }), []);
});

test("a factor of one", () => {
  assert.equal(longest({ factor: 1 }), 600);
});
