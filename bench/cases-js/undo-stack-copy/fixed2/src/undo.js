/** A value that remembers what it was. */
export class Undoable {
  constructor(value) {
    this.value = value;
    this.past = [];
  }

  set(value) {
    this.past.push(this.value);
    this.value = value;
  }

  undo() {
    if (this.past.length === 0) {
      return false;
    }
    this.value = this.past.pop();
    return true;
  }

  history() {
    return this.past.slice();
  }
}
