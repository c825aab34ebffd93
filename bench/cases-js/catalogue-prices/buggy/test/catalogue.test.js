import assert from "node:assert/strict";
import test from "node:test";
import { cheapest, withTax } from "../src/catalogue.js";

test("tax by kind", () => {
  const taxed = withTax([{ kind: "book", cents: 1000 }, { kind: "toy", cents: 1000 }]);
  assert.deepEqual(taxed, [{ kind: "book", cents: 1070 }, { kind: "toy", cents: 1190 }]);
});

test("nothing to tax", () => {
  assert.deepEqual(withTax([]), []);
});

test("cheapest", () => {
  assert.equal(cheapest([{ cents: 5 }, { cents: 3 }, { cents: 4 }]).cents, 3);
});
