import assert from "node:assert/strict";
import test from "node:test";
import { Undoable } from "../src/undo.js";

test("undo", () => {
  const one = new Undoable("a");
  one.set("b");
  assert.equal(one.undo(), true);
  assert.equal(one.value, "a");
});

test("nothing to undo", () => {
  assert.equal(new Undoable(1).undo(), false);
});

test("history lists what was", () => {
  const one = new Undoable(1);
  one.set(2);
  one.set(3);
  assert.deepEqual(one.history(), [1, 2]);
});

test("history is the caller's own", () => {
  const one = new Undoable(1);
  one.set(2);
  one.history().length = 0;
  assert.equal(one.undo(), true);
});
