/** The anchor that a heading is linked by. */
export function anchor(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .replace(/ +/g, "-");
}

/** Anchors of a page's headings, numbered where they repeat. */
export function anchors(headings) {
  const seen = new Map();
  return headings.map((heading) => {
    const base = anchor(heading);
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  });
}
