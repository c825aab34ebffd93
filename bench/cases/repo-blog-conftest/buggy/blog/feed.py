"""The feed: what changed lately."""

LIMIT = 20


def latest(store, limit=LIMIT):
    """Published posts, the one changed last first."""
    posts = sorted(store.published(), key=lambda post: post.created, reverse=True)
    return posts[:limit]


def last_change(store):
    """When the newest change was made, None for an empty blog."""
    posts = latest(store, 1)
    return posts[0].updated if posts else None


def render(store):
    lines = []
    for post in latest(store):
        count = len(post.visible_comments())
        suffix = f" ({count})" if count else ""
        lines.append(f"{post.updated:%Y-%m-%d} {post.title}{suffix}")
    return "\n".join(lines)
