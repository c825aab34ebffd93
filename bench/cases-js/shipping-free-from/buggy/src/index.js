export const FREE_FROM = 50;
export const RATES = { standard: 4.9, express: 9.9 };

/** The goods' value of an order, cancelled lines left out. */
export function goods(lines) {
  return lines
    .filter((line) => !line.cancelled)
    .reduce((sum, line) => sum + line.price * line.quantity, 0);
}

/** What shipping costs; free from FREE_FROM on, express never is. */
export function shipping(lines, speed = "standard") {
  const rate = RATES[speed];
  if (rate === undefined) {
    throw new RangeError(`no such speed: ${speed}`);
  }
  if (speed === "standard" && goods(lines) > FREE_FROM) {
    return 0;
  }
  return rate;
}
