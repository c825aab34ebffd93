/** Reads people from a store whose methods are all asynchronous. */
export class Profiles {
  constructor(store) {
    this.store = store;
  }

  async friends(id) {
    const ids = await this.store.friendsOf(id);
    const people = await Promise.all(ids.map((one) => this.store.person(one)));
    return people.filter((person) => person !== null);
  }

  async profile(id) {
    const person = await this.store.person(id);
    if (person === null) {
      return null;
    }
    const friends = this.friends(id);
    return { name: person.name, friends: friends.length };
  }
}
