/** Runs jobs one after the other, in the order they came, urgent ones before. */
export class Jobs {
  #urgent = [];
  #usual = [];

  add(job, { urgent = false } = {}) {
    (urgent ? this.#urgent : this.#usual).push(job);
    return this;
  }

  get size() {
    return this.#urgent.length + this.#usual.length;
  }

  next() {
    if (this.#urgent.length > 0) {
      return this.#urgent.shift();
    }
    return this.#usual.pop();
  }

  drain() {
    const done = [];
    while (this.size > 0) {
      done.push(this.next()());
    }
    return done;
  }
}
