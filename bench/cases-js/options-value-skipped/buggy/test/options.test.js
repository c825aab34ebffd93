import assert from "node:assert/strict";
import test from "node:test";
import { read } from "../src/options.js";

test("files alone", () => {
  assert.deepEqual(read(["a", "b"]), { options: {}, files: ["a", "b"] });
});

test("a flag", () => {
  assert.deepEqual(read(["--fast", "a"]), { options: { fast: true }, files: ["a"] });
});

test("an option takes the word after it", () => {
  assert.deepEqual(read(["--out", "x", "a"]), { options: { out: "x" }, files: ["a"] });
});

test("two of them", () => {
  assert.deepEqual(read(["--level", "3", "a", "--out", "x"]), { options: { level: "3", out: "x" }, files: ["a"] });
});
