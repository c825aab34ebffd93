import pytest

from grades import Course, Exam


@pytest.fixture
def course():
    return Course([Exam("mid", 1, {"ann": 60, "bob": 80}), Exam("final", 3, {"ann": 100})])


def test_students(course):
    assert course.students() == ["ann", "bob"]


def test_one_exam(course):
    assert course.grade("bob") == 80


def test_unknown(course):
    assert course.grade("cyd") is None


def test_weights(course):
    assert course.grade("ann") == 90


def test_average(course):
    assert course.average() == 85


def test_equal_weights():
    course = Course([Exam("a", 1, {"x": 1}), Exam("b", 1, {"x": 2})])
    assert course.grade("x") == 1.5
