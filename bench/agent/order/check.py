from people import by_age

assert by_age([("Bo", 3), ("Al", 3), ("Cy", 9)]) == [("Cy", 9), ("Al", 3), ("Bo", 3)]
