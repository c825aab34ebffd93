"""Makes the packages beside this file importable from tests/."""
