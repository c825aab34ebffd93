from chat import Conversation, merge


def test_given_messages():
    assert Conversation("ann", [("ann", "hi")]).last() == ("ann", "hi")


def test_given_list_is_used():
    messages = []
    Conversation("ann", messages).say("ann", "hi")
    assert messages == [("ann", "hi")]


def test_by():
    conversation = Conversation("ann", []).say("ann", "hi").say("desk", "hello").say("ann", "bye")
    assert conversation.by("ann") == ["hi", "bye"]


def test_transcript():
    assert Conversation("a", [("a", "x"), ("b", "y")]).transcript() == "a: x\nb: y"


def test_conversations_are_separate():
    Conversation("ann").say("ann", "hi")
    assert Conversation("bob").messages == []
    assert Conversation("bob").last() is None


def test_merge():
    both = merge(Conversation("a", [("a", "1")]), Conversation("b", [("b", "2")]))
    assert (both.customer, len(both.messages)) == ("a", 2)
