"""Grades of a course."""


class Exam:
    def __init__(self, name, weight, results):
        self.name = name
        self.weight = weight
        self.results = results


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Course:
    def __init__(self, exams):
        self.exams = exams

    def grade(self, student):
        """The weighted mean of a student's exams; exams not taken don't count."""
        total = 0
        weights = 0
        for exam in self.exams:
            result = exam.results.get(student)
            if result is None:
                continue
            weighted = result * exam.weight
            total += result
            weights += exam.weight
        return round(total / weights, 2) if weights else None

    def students(self):
        return sorted({student for exam in self.exams for student in exam.results})

    def average(self):
        """The mean grade of all students."""
        return round(mean(self.grade(student) for student in self.students()), 2)
