"""A hub of models on the loopback, for the real client library in a process of its own."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """The part of the hub's interface that a download uses."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append(self.path)
        path = unquote(urlsplit(self.path).path).strip("/")
        path = path.removeprefix("api/models/")
        repo, rest = "/".join(path.split("/")[:2]), path.split("/")[2:]
        if repo not in self.server.repositories:
            return self.answer(401, b"", {"X-Error-Code": "RepoNotFound"})
        if rest[1] not in ("main", COMMIT):
            return self.answer(404, b"", {"X-Error-Code": "RevisionNotFound"})
        return getattr(self, rest[0])(repo, "/".join(rest[2:]))

    def revision(self, repo, _):
        files = self.server.repositories[repo]
        siblings = [{"rfilename": name, "size": len(body)} for name, body in files.items()]
        self.reply({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": siblings})

    def tree(self, repo, _):
        self.reply(
            [self.entry(name, body) for name, body in self.server.repositories[repo].items()]
        )

    def entry(self, name, body):
        oid = sha1(b"blob %d\0" % len(body) + body).hexdigest()
        entry = {"type": "file", "path": name, "size": len(body), "oid": oid}
        if name.endswith(".safetensors"):
            large = {"oid": sha256(body).hexdigest(), "size": len(body), "pointerSize": 134}
            entry["lfs"] = large
        return entry

    def resolve(self, repo, name):
        if repo == "lab/gated" and self.headers.get("Authorization") != "Bearer hf_good":
            return self.answer(403, b"", {"X-Error-Code": "GatedRepo"})
        body = self.server.repositories[repo][name]
        entry = self.entry(name, body)
        tag = entry.get("lfs", entry)["oid"]
        headers = {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT}
        span = self.headers.get("Range")
        if span and self.server.ranges:
            first, last = map(int, span.removeprefix("bytes=").split("-"))
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            return self.answer(206, body[first : last + 1], headers)
        return self.answer(200, self.server.spoil(body), headers)

    def reply(self, value):
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@contextmanager
def serving(repositories) -> Iterator[ThreadingHTTPServer]:
    """A hub that has the given repositories: bytes of files by name, by owner/name.

    ``ranges`` says whether it hands out parts of files, ``spoil`` changes what it hands out, and
    ``asked`` are the paths that were requested.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.repositories, server.ranges = repositories, True
    server.asked, server.spoil = [], lambda body: body
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def call(command, hub, store, **environment):
    """Run Python in a process of its own: the hub library reads its settings on import."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "BLIMPWORKS_"))}
    settings = kept | {"HF_HOME": str(store), "NO_PROXY": "*"}
    settings["HF_ENDPOINT"] = f"http://127.0.0.1:{hub.server_port}"
    return subprocess.run(
        [sys.executable, *command],
        env=settings | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
