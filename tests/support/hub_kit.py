"""Serve a hub of models on the loopback, for the real client library.

It answers as huggingface.co documents: API and small files from one port, large files from another
(a CDN, by redirect), refusals with the headers that the client reads.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from huggingface_hub import constants
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GOOD, EXPIRED = "hf_good", "hf_expired"
"""A token whose owner has accepted all licences, and a revoked token."""
WORDS = WordLevel({"<s>": 0, "<unk>": 1, "a": 2}, unk_token="<unk>")
TINY_MODEL = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": Tokenizer(WORDS).to_str().encode(),
}
"""Files of a model that can be retrieved, and not loaded; its weights are still missing."""


def safetensors(seed, numbers=8, dtype="F32"):
    """Return a safetensors file with one tensor, all of whose bytes are ``seed``."""
    size = 4 * numbers
    tensor = {"dtype": dtype, "shape": [numbers], "data_offsets": [0, size]}
    head = json.dumps({"w": tensor}).encode()
    return len(head).to_bytes(8, "little") + head + bytes([seed]) * size


class Handler(BaseHTTPRequestHandler):
    """The answers that both ports share: ordered errors, ranges of files, broken connections."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def trouble(self):
        """Answer with the error that a test ordered for this request; return whether it did."""
        for each in self.server.troubles:
            text, status, headers = each
            if text in f"{self.command} {self.path}":
                self.server.troubles.remove(each)
                self.answer(status, b"", headers)
                return True
        return False

    def part_of(self, body, headers):
        """Answer with the bytes of a file, or with the requested range."""
        span = self.headers.get("Range")
        if not span:
            return self.answer(200, body, headers)
        first, _, last = span.removeprefix("bytes=").partition("-")
        start, end = int(first), int(last or len(body) - 1)
        headers = headers | {"Content-Range": f"bytes {start}-{end}/{len(body)}"}
        return self.answer(206, body[start : end + 1], headers)

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            cut = self.server.cuts.pop(0) if self.server.cuts and len(body) > 99 else None
            self.wfile.write(body[:cut])
            self.close_connection |= cut is not None


class Cdn(Handler):
    """The port of large files, stored by SHA-256 with a signature; Xet's chunks are missing."""

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        if self.trouble():
            return None
        digest = urlsplit(self.path).path.strip("/")
        if digest not in self.server.files:
            return self.answer(404, b"", {})
        return self.part_of(self.server.spoil(self.server.files[digest]), {})


class Hub(Handler):
    """The part of the hub's interface that a download uses."""

    def do_GET(self):
        self.server.asked.append(unquote(self.path))
        if self.trouble():
            return None
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        api = parts[:2] == ["api", "models"]
        parts = parts[2:] if api else parts
        repo, (verb, *rest) = "/".join(parts[:2]), parts[2:] or ["revision"]
        refused = self.refusal(repo, verb)
        if refused:
            return self.answer(*refused)
        if repo in self.server.renamed:
            new = self.path.replace(repo, self.server.renamed[repo])
            return self.answer(307, b"", {"Location": new})
        if verb == "auth-check":
            return self.reply({})
        commit = self.server.commit_of(repo, rest[0] if rest else "main")
        if commit is None:
            return self.answer(404, b"", {"X-Error-Code": "RevisionNotFound"})
        verb = verb.replace("-", "_")
        return getattr(self, verb)(repo, commit, "/".join(rest[1:]))

    def refusal(self, repo, verb):
        """Return status, body and headers of the refusal of a request, or None."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token == EXPIRED:
            said = "Invalid credentials in Authorization header"
            return 401, b"", {"X-Error-Message": said}
        if repo in self.server.disabled:
            return 403, b"", {"X-Error-Message": "Access to this resource is disabled."}
        if repo not in self.server.repositories and repo not in self.server.renamed:
            return 401, b"", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Not found"}
        # The file list of a gated model is public.
        if repo in self.server.gated and verb in ("resolve", "auth-check") and token != GOOD:
            said = f"Access to model {repo} is restricted."
            status = 403 if token else 401
            return status, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": said}
        return None

    def revision(self, repo, commit, _):
        files = self.server.files_of(repo, commit)
        siblings = [{"rfilename": name, "size": len(body)} for name, body in files.items()]
        gated = "manual" if repo in self.server.gated else False
        names = {"id": repo, "modelId": repo, "sha": commit}
        self.reply({**names, "siblings": siblings, "gated": gated})

    def tree(self, repo, commit, _):
        files = self.server.files_of(repo, commit)
        self.reply([self.entry(name, body) for name, body in files.items()])

    def xet_read_token(self, repo, commit, _):
        headers = {"X-Xet-Cas-Url": self.server.cdn.url, "X-Xet-Access-Token": "xet"}
        self.answer(200, b"{}", headers | {"X-Xet-Token-Expiration": str(int(time.time()) + 9999)})

    def entry(self, name, body):
        oid = sha1(b"blob %d\0" % len(body) + body).hexdigest()
        entry = {"type": "file", "path": name, "size": len(body), "oid": oid}
        if name.endswith(".safetensors"):
            digest = sha256(body).hexdigest()
            entry["lfs"] = {"oid": digest, "size": len(body), "pointerSize": 134}
            entry |= {"xetHash": digest} if self.server.xet else {}
        return entry

    def resolve(self, repo, commit, name):
        files = self.server.files_of(repo, commit)
        if name not in files:
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        body = files[name]
        entry = self.entry(name, body)
        headers = {"X-Repo-Commit": commit, "ETag": f'"{entry["oid"]}"'}
        if "lfs" not in entry:
            return self.part_of(self.server.spoil_small(body), headers)
        digest = entry["lfs"]["oid"]
        self.server.cdn.files[digest] = body
        headers |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(body))}
        headers |= {"Location": f"{self.server.cdn.url}/{digest}?Signature=s3cret-signature"}
        if self.server.xet:
            route = f"{self.server.url}/api/models/{repo}/xet-read-token/{commit}"
            headers |= {"X-Xet-Hash": digest, "Link": f'<{route}>; rel="xet-auth"'}
        return self.answer(302, b"", headers)

    def reply(self, value):
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})


class Server(ThreadingHTTPServer):
    """One of the two ports; its attributes order errors."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.reset()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def reset(self):
        self.troubles = []  # (text in a request, status, headers) of answers, each used once
        self.cuts = []  # numbers of bytes after which the first transfers of files break off
        self.spoil = lambda body: body  # changes large files on their way
        self.spoil_small = lambda body: body  # changes small files
        self.requests = []  # path and headers of each

    def handle_error(self, request, client_address):
        pass  # the client has gone

    def close(self):
        self.shutdown()
        self.server_close()


class HubServer(Server):
    """A hub with its CDN."""

    def __init__(self, repositories):
        self.repositories = repositories
        self.cdn = Server(Cdn)
        super().__init__(Hub)

    def reset(self):
        super().reset()
        self.cdn.reset()
        self.cdn.files = {}
        self.asked = []  # paths that were requested from the hub
        self.gated, self.disabled, self.renamed = {"lab/gated"}, set(), {}
        self.heads = {}  # commit of a (repository, branch), if not COMMIT
        self.history = {}  # files of a (repository, commit), if not the repository's
        self.xet = False

    def commit_of(self, repo, revision):
        if (repo, revision) in self.history or revision == COMMIT:
            return revision
        return self.heads.get((repo, revision), COMMIT if revision == "main" else None)

    def files_of(self, repo, commit):
        return self.history.get((repo, commit), self.repositories.get(repo))

    def move(self, repo, revision, commit, files):
        """Make a branch, tag or pull request point to another commit with files of its own."""
        self.heads[repo, revision], self.history[repo, commit] = commit, files

    def close(self):
        super().close()
        self.cdn.close()


@contextmanager
def serving(repositories) -> Iterator[HubServer]:
    """Serve a hub that has the given repositories: bytes of files by name, by owner/name."""
    server = HubServer(repositories)
    try:
        yield server
    finally:
        server.close()


def use(hub, store, patch):
    """Point this process's hub library to a hub, and to a cache below a directory."""
    for name in [name for name in os.environ if name.startswith(("HF_", "BLIMPWORKS_"))]:
        patch.delenv(name)
    patch.setenv("NO_PROXY", "*")
    files = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    patch.setattr(constants, "ENDPOINT", hub.url)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
    patch.setattr(constants, "HF_HUB_CACHE", str(store / "hub"))
    patch.setattr(constants, "HF_TOKEN_PATH", str(store / "token"))
