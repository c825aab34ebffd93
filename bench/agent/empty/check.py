from stats import mean

assert mean([1, 3]) == 2
try:
    mean([])
except ValueError as error:
    assert str(error) == "no values"
else:
    raise AssertionError
