import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Jobs } from "../lib/jobs.js";

describe("Jobs", () => {
  it("counts", () => {
    assert.equal(new Jobs().add(() => 1).add(() => 2, { urgent: true }).size, 2);
  });
  it("runs one", () => {
    assert.deepEqual(new Jobs().add(() => "a").drain(), ["a"]);
  });
  it("runs urgent ones first", () => {
    assert.deepEqual(new Jobs().add(() => "a").add(() => "u", { urgent: true }).drain(), ["u", "a"]);
  });
  it("keeps their order", () => {
    const jobs = new Jobs().add(() => "a").add(() => "b").add(() => "c");
    assert.deepEqual(jobs.drain(), ["a", "b", "c"]);
  });
  it("keeps the order of urgent ones", () => {
    const jobs = new Jobs().add(() => 1, { urgent: true }).add(() => 2, { urgent: true });
    assert.deepEqual(jobs.drain(), [1, 2]);
  });
});
