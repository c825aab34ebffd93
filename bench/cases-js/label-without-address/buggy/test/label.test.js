import assert from "node:assert/strict";
import test from "node:test";
import { city, label } from "../src/label.js";

test("a whole label", () => {
  const customer = { name: "Ann", company: "Oak Ltd", address: { city: "Leeds" } };
  assert.deepEqual(label(customer), ["Ann", "Oak Ltd", "LEEDS"]);
});

test("no company", () => {
  assert.deepEqual(label({ name: "Ann", address: { city: "York" } }), ["Ann", "YORK"]);
});

test("an address without a city", () => {
  assert.equal(city({ name: "Ann", address: {} }), "PICK-UP");
});

test("no address at all", () => {
  assert.deepEqual(label({ name: "Ann" }), ["Ann", "PICK-UP"]);
});
