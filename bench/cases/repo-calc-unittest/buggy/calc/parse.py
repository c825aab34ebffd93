"""Builds a tree of tuples from tokens."""

from calc.problems import SyntaxProblem

LEVELS = (("+", "-"), ("*", "/"))


class Parser:
    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self):
        token = self.peek()
        if token is None:
            raise SyntaxProblem("unexpected end")
        self.at += 1
        return token

    def level(self, number):
        """Left to right operators of one level, tighter ones inside."""
        if number == len(LEVELS):
            return self.unary()
        left = self.level(number + 1)
        while self.peek() in LEVELS[number]:
            left = (self.take(), left, self.level(number + 1))
        return left

    def unary(self):
        if self.peek() == "-" and isinstance(self.tokens[self.at + 1], float):
            self.take()
            return ("neg", self.unary())
        return self.power()

    def power(self):
        base = self.atom()
        if self.peek() == "^":
            self.take()
            return ("^", base, self.unary())
        return base

    def atom(self):
        token = self.take()
        if isinstance(token, float):
            return token
        if token == "(":
            inner = self.level(0)
            if self.take() != ")":
                raise SyntaxProblem("missing )")
            return inner
        raise SyntaxProblem(f"unexpected {token!r}")


def parse(tokens):
    parser = Parser(tokens)
    tree = parser.level(0)
    if parser.peek() is not None:
        raise SyntaxProblem(f"unexpected {parser.peek()!r}")
    return tree
