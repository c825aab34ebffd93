"""A text buffer with undo and redo."""


class Buffer:
    def __init__(self, text=""):
        self.text = text
        self._undo = []
        self._redo = []

    def _change(self, text):
        self._undo.append(self.text)
        self._redo.clear()
        self.text = text

    def insert(self, at, piece):
        if not 0 <= at <= len(self.text):
            raise IndexError(f"no position {at}")
        self._change(self.text[:at] + piece + self.text[at:])

    def delete(self, start, end):
        self._change(self.text[:start] + self.text[end:])

    def undo(self):
        """Takes the last change back; False where there's none."""
        if not self._undo:
            return False
        self._redo.append(self.text)
        self.text = self._undo.pop()
        return True

    def redo(self):
        """Makes the change again that was taken back; False where there's none."""
        if not self._redo:
            return False
        self._undo.append(self.text)
        self.text = self._redo.pop()
        return True
