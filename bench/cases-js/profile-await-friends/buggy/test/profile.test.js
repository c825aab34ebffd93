import assert from "node:assert/strict";
import { test } from "node:test";
import { Profiles } from "../src/profiles.js";

const people = { 1: { name: "Ada" }, 2: { name: "Bob" }, 3: { name: "Cleo" } };
const friends = { 1: [2, 3, 9], 2: [1], 3: [] };
const store = {
  person: async (id) => people[id] ?? null,
  friendsOf: async (id) => friends[id] ?? [],
};

test("friends that exist", async () => {
  const found = await new Profiles(store).friends(1);
  assert.deepEqual(found.map((one) => one.name), ["Bob", "Cleo"]);
});

test("nobody", async () => {
  assert.equal(await new Profiles(store).profile(7), null);
});

test("a profile counts the friends", async () => {
  assert.deepEqual(await new Profiles(store).profile(1), { name: "Ada", friends: 2 });
});

test("no friends yet", async () => {
  assert.deepEqual(await new Profiles(store).profile(3), { name: "Cleo", friends: 0 });
});
