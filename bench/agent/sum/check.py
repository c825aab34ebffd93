from calc import add

assert add(2, 3) == 5 and add(-1, 1) == 0
