"""The life of an order as a state machine."""


class BadTransition(Exception):
    pass


class Order:
    def __init__(self, number):
        self.number = number
        self.state = "new"
        self.history = ["new"]

    def _enter(self, state):
        self.state = state
        self.history.append(state)

    def _refuse(self, action):
        raise BadTransition(f"cannot {action} an order that is {self.state}")

    def pay(self):
        if self.state != "new":
            self._refuse("pay")
        self._enter("paid")

    def pause(self):
        if self.state != "paid":
            self._refuse("pause")
        self._enter("paused")

    def resume(self):
        if self.state != "paused":
            self._refuse("resume")
        self._enter("paid")

    def cancel(self):
        if self.state not in ("new", "paid", "paused"):
            self._refuse("cancel")
        self._enter("cancelled")

    def ship(self):
        if self.state != "paid":
            self._refuse("ship")
        self._enter("shipped")

    @property
    def done(self):
        return self.state in ("cancelled", "shipped")
