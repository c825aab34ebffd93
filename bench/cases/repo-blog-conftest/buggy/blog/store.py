"""Where posts are kept."""


class Store:
    def __init__(self):
        self._posts = {}
        self._next = 1

    def add(self, post):
        number = self._next
        self._posts[number] = post
        self._next += 1
        return number

    def get(self, number):
        return self._posts[number]

    def edit(self, number, title, when):
        post = self._posts[number]
        post.title = title
        post.edited = when

    def published(self):
        return [post for post in self._posts.values() if post.published]

    def by_author(self, author):
        return [post for post in self.published() if post.author == author]
