import assert from "node:assert/strict";
import test from "node:test";
import { goods, shipping } from "../src/index.js";

const line = (price, quantity = 1, cancelled = false) => ({ price, quantity, cancelled });

test("goods add up", () => {
  assert.equal(goods([line(10, 2), line(5)]), 25);
});

test("cancelled lines don't count", () => {
  assert.equal(goods([line(10), line(99, 1, true)]), 10);
});

test("a small order pays", () => {
  assert.equal(shipping([line(12)]), 4.9);
});

test("a large order ships for free", () => {
  assert.equal(shipping([line(80)]), 0);
});

test("so does one of exactly the limit", () => {
  assert.equal(shipping([line(25, 2)]), 0);
});

test("express always costs", () => {
  assert.equal(shipping([line(500)], "express"), 9.9);
});

test("unknown speeds are refused", () => {
  assert.throws(() => shipping([], "drone"), RangeError);
});
