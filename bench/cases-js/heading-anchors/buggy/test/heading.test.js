import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { anchor, anchors } from "../src/index.js";

describe("anchor", () => {
  it("lowers letters", () => {
    assert.equal(anchor("Usage"), "usage");
  });
  it("joins two words", () => {
    assert.equal(anchor("Getting started"), "getting-started");
  });
  it("joins many words", () => {
    assert.equal(anchor("What is new in 2.0?"), "what-is-new-in-20");
  });
  it("drops signs", () => {
    assert.equal(anchor("FAQ!"), "faq");
  });
});

describe("anchors", () => {
  it("numbers what repeats", () => {
    assert.deepEqual(anchors(["Notes", "Use", "Notes"]), ["notes", "use", "notes-1"]);
  });
});
