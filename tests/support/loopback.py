"""Serve DATA on the loopback, with the faults that the server's attributes order."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATA = bytes(range(256)) * 4096  # 1 MiB
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Server(ThreadingHTTPServer):
    """Serves DATA at every address, with the faults that its attributes order."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.body = DATA
        self.pages = {}  # bodies at some paths in place of DATA
        self.ranges = True
        self.announces = True  # whether answers announce the length of a file
        self.redirects = []  # addresses to which the first requests are redirected
        self.statuses = []  # statuses of the first answers
        self.cuts = []  # numbers of bytes after which the first transfers break off
        self.hold = None  # number of bytes after which a transfer stalls
        self.release = threading.Event()
        self.ranges_requested = []  # Range header of each request
        self.sent = []  # number of body bytes of each answer
        self.url = f"http://127.0.0.1:{self.server_port}/o/r/{COMMIT}/file.txt"

    def handle_error(self, request, client_address):
        pass  # a killed client


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        if self.path in server.pages:
            return self.answer(200, server.pages[self.path])
        requested = self.headers.get("Range")
        server.ranges_requested.append(requested)
        if server.redirects:
            return self.answer(302, b"", location=server.redirects.pop(0))
        if server.statuses:
            return self.answer(server.statuses.pop(0), b"")
        if not requested or not server.ranges:
            return self.answer(200, server.body)
        start = int(requested.removeprefix("bytes=").rstrip("-"))
        size = len(server.body)
        if start >= size:
            return self.answer(416, b"", f"bytes */{size}")
        return self.answer(206, server.body[start:], f"bytes {start}-{size - 1}/{size}")

    def answer(self, status, body, span=None, location=None):
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        if self.server.announces or not body:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.close_connection = True
        if span:
            self.send_header("Content-Range", span)
        self.end_headers()
        cut = self.server.cuts.pop(0) if self.server.cuts else None
        if self.server.hold is not None:
            cut = self.server.hold
        # Counted before the bytes leave: a client that has received them may look at once.
        self.server.sent.append(len(body[:cut]))
        self.wfile.write(body[:cut])
        if self.server.hold is not None:
            self.server.release.wait(20)
        self.close_connection |= cut is not None


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server; release a stalled transfer at the end."""
    running = Server(Handler)
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield running
    finally:
        running.release.set()
        running.shutdown()
        running.server_close()
