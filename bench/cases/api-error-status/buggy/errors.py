"""Errors of a small web service and how they're answered."""


class ApiError(Exception):
    """Base of all errors that a client sees."""

    def __init__(self, message, status=500, retry_after=None):
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after


class BadRequest(ApiError):
    def __init__(self, field, problem):
        super().__init__(f"{field}: {problem}", 400)
        self.field = field


class NotFound(ApiError):
    def __init__(self, kind, key):
        super().__init__(f"no {kind} {key!r}")


class Busy(ApiError):
    def __init__(self, seconds):
        super().__init__("busy", 503, retry_after=seconds)


def answer(error):
    """(status, headers, body) for an error."""
    headers = {"Content-Type": "application/json"}
    if isinstance(error, ApiError):
        if error.retry_after is not None:
            headers["Retry-After"] = str(error.retry_after)
        return error.status, headers, {"error": error.message}
    return 500, headers, {"error": "internal error"}
