/** The lines of a parcel's label. */
export function label(customer) {
  const lines = [customer.name];
  if (customer.company) {
    lines.push(customer.company);
  }
  lines.push(city(customer));
  return lines;
}

/** Where the customer lives, as one line. */
export function city(customer) {
  const name = customer.address?.city ?? "pick-up";
  return name.toUpperCase();
}
