"""The conversation on a thread of its own, and the queue by which the app hears of it."""
