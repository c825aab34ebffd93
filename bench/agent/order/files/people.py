def by_age(people):
    """people: pairs of name and age."""
    return sorted(people, key=lambda person: person[1])
