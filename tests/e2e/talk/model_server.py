"""A model's server for tests, as a process: python model_server.py SCRIPT ASKED.

Speaks OpenAI's chat API and says what SCRIPT, a JSON list of answers, has it say; an answer is a list of [kind, value]:
["text", words], ["think", words], ["call", [name, arguments]], ["pause", seconds], ["die", null]. What it is asked goes
to ASKED, a line of JSON each. It prints its port.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

script = json.loads(Path(sys.argv[1]).read_text("utf-8"))
asked = Path(sys.argv[2])
count = iter(range(10**9))


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        with asked.open("a") as out:
            out.write(json.dumps(json.loads(body)) + "\n")
        number = next(count)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        calls = 0
        for kind, value in script[min(number, len(script) - 1)]:
            if kind == "pause":
                time.sleep(value)
            elif kind == "die":
                return
            elif kind == "call":
                function = {"name": value[0], "arguments": json.dumps(value[1])}
                call = {"index": calls, "id": f"call_{calls}", "type": "function", "function": function}
                calls += 1
                self.event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
            else:
                field = {"text": "content", "think": "reasoning_content"}[kind]
                self.event({"choices": [{"index": 0, "delta": {field: value}}]})
        self.event(
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]}
        )
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 60},
        }
        self.event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, data):
        self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
        self.wfile.flush()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
