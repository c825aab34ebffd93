"""What can go wrong."""


class SyntaxProblem(ValueError):
    pass


class MathProblem(ArithmeticError):
    pass
