import unittest

from errors import ApiError, BadRequest, Busy, NotFound, answer


class AnswerTest(unittest.TestCase):
    def test_plain_error(self):
        self.assertEqual(answer(ApiError("oops"))[0], 500)

    def test_foreign_error_is_hidden(self):
        status, _, body = answer(KeyError("secret"))
        self.assertEqual((status, body), (500, {"error": "internal error"}))

    def test_bad_request(self):
        status, _, body = answer(BadRequest("age", "not a number"))
        self.assertEqual(status, 400)
        self.assertEqual(body["error"], "age: not a number")

    def test_not_found(self):
        status, headers, body = answer(NotFound("user", "bob"))
        self.assertEqual(status, 404)
        self.assertNotIn("Retry-After", headers)
        self.assertEqual(body["error"], "no user 'bob'")

    def test_busy(self):
        status, headers, _ = answer(Busy(30))
        self.assertEqual(status, 503)
        self.assertEqual(headers["Retry-After"], "30")


if __name__ == "__main__":
    unittest.main()
