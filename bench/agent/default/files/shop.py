def price(amount, each):
    return amount * each
