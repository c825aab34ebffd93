"""Conversations of a help desk."""


class Conversation:
    def __init__(self, customer, messages=None):
        self.customer = customer
        self.messages = [] if messages is None else messages

    def say(self, who, text):
        self.messages.append((who, text))
        return self

    def by(self, who):
        """The texts of one side."""
        return [text for name, text in self.messages if name == who]

    def last(self):
        return self.messages[-1] if self.messages else None

    def transcript(self):
        return "\n".join(f"{who}: {text}" for who, text in self.messages)


def merge(one, other):
    """A conversation with the messages of both."""
    return Conversation(one.customer, one.messages + other.messages)
