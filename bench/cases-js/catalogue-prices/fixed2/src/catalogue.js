const RATES = { book: 0.07, food: 0.07, toy: 0.19 };

function rate(product) {
  return RATES[product.kind] ?? 0.19;
}

/** Products with their price after tax, in cents. */
export function withTax(products) {
  return products.map((product) => {
    const tax = Math.round(product.cents * rate(product));
    return { ...product, cents: product.cents + tax };
  });
}

/** The cheapest product, undefined where there is none. */
export function cheapest(products) {
  return products.reduce((best, one) => (best === undefined || one.cents < best.cents ? one : best), undefined);
}
