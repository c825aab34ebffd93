"""A pocket calculator."""

from calc.evaluate import evaluate

__all__ = ["evaluate"]
