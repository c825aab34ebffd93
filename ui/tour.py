"""What a person sees who has no model yet."""

from __future__ import annotations

TOUR = """\
**deskagent** works in this folder by tools, asks before it changes anything, and can take all of it back.

1. It needs a model that you have. A server: `deskagent model add local/qwen http://localhost:8000/v1 --dialect vllm`, \
or a file: `deskagent model add FILE.gguf`
2. A bug that a test shows is repaired without any model: `deskagent fix "what is wrong" --test "pytest -q"`
3. Here, Shift+Tab changes what may happen unasked, Esc interrupts, and F1 shows all keys.

Add one in another terminal, then write here what is to be done.
"""
