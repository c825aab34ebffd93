from shop import price

assert price(2, 10) == 20 and price(2, 10, discount=50) == 10
