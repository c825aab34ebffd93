const DEFAULTS = { retries: 3, delay: 200, factor: 2 };

/** Milliseconds to wait before each attempt after the first. */
export function schedule(options = {}) {
  const retries = options.retries ?? DEFAULTS.retries;
  const delay = options.delay || DEFAULTS.delay;
  const factor = options.factor ?? DEFAULTS.factor;
  const waits = [];
  let wait = delay;
  for (let attempt = 0; attempt < retries; attempt++) {
    waits.push(wait);
    wait *= factor;
  }
  return waits;
}

/** The longest that a call may be held up. */
export function longest(options) {
  return schedule(options).reduce((sum, wait) => sum + wait, 0);
}
