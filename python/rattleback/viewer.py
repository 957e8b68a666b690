"""The live view of a world: a small web server of this process that serves the viewer's page and the stream of
docs/viewer-protocol.md. The thread of the world writes frames to a store of the library; a thread for each browser reads it.
"""
from __future__ import annotations

import base64
import hashlib
import json
import select
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Optional

from ._native import ffi, lib
from .errors import InvalidError, check, exception_of, new_error

if TYPE_CHECKING:
    from .world import World

_PERIOD = 1.0 / 60.0  # s of wall time between frames
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of WebSockets, RFC 6455
_COMMAND_BYTES = 65536
_REFUSAL = "this world is advanced by Python; change it there"


class Viewer:
    """A live view, opened by World.view. url: its address; close() ends it, as does closing the world.

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> with world.view(open_browser=False) as viewer:
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, world: World, port: int, speed: Optional[float]) -> None:
        if speed is not None and not speed > 0.0:
            raise InvalidError(f"the speed is {speed}; a positive number, or None for as fast as possible, is needed")
        error = new_error()
        self._scene = world.scene  # which the store borrows
        opened = lib.rbpyOpenViewer(self._scene._handle(), world._native(), error)
        if opened == ffi.NULL:
            raise exception_of(error)
        self._store: Any = opened
        self.speed = speed
        self._paused = False
        self._clients = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._last = 0.0
        self._measured, self._reached = (time.monotonic(), world.time), 0.0  # the speed that is reached
        self._pace: Optional[tuple[float, float]] = None  # wall and simulated time that the speed counts from
        try:
            self._server = _Server(("127.0.0.1", port), self)
        except OSError as reason:
            lib.rbpyCloseViewer(opened)
            self._store = None
            raise InvalidError(f"the viewer cannot listen on port {port}: {reason.strerror}; use another, or 0 for any free "
                               "one") from None
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="rattleback-viewer")
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Viewer {self.url}>" if self._store is not None else "<Viewer, closed>"

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether it serves.

        >>> import rattleback as rb
        >>> with rb.World().view(open_browser=False) as viewer:
        ...     viewer.is_open
        True
        """
        return self._store is not None

    def close(self) -> None:
        """Ends the view; browsers say that the connection is lost.

        >>> import rattleback as rb
        >>> viewer = rb.World().view(open_browser=False)
        >>> viewer.close()
        >>> viewer.is_open
        False
        """
        if self._store is None:
            return
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()  # waits for the threads of the browsers, which read the store
        store, self._store = self._store, None
        lib.rbpyCloseViewer(store)

    # ------------------------------------------------------------------------------- in the thread of the world

    def _span(self) -> float:
        """s of simulated time from frame to frame, for long advances."""
        return _PERIOD * (self.speed if self.speed is not None else 1.0)

    def _show(self, world: World, *, at_once: bool = False) -> None:
        """After a step: takes a frame if one is due, waits if the world is ahead of its speed or paused."""
        if self._store is None:
            return
        now = time.monotonic()
        if self.speed is not None:
            if self._pace is None or world.time < self._pace[1] or now - self._pace[0] > (world.time - self._pace[1]) / self.speed + 0.5:
                self._pace = (now, world.time)  # the start, or Python did something else meanwhile
            ahead = self._pace[0] + (world.time - self._pace[1]) / self.speed - now
            if ahead > 0.0:
                time.sleep(ahead)
                now = time.monotonic()
        if at_once or now - self._last >= _PERIOD or (self.speed is not None and ahead > 0.0):
            self._take(world, now)
        if self._paused:
            self._take(world, now)
            while self._paused and self._clients > 0 and not self._closing.is_set():
                time.sleep(0.02)
            self._paused = False
            self._tell()

    def _take(self, world: World, now: float) -> None:
        error = new_error()
        self._last = now
        check(lib.rbpyViewer_Take(self._store, world._native(), error), error)
        wall, simulated = now - self._measured[0], world.time - self._measured[1]
        if wall > 0.5:
            self._reached = max(simulated, 0.0) / wall
            self._measured = (now, world.time)
            self._tell()

    def _tell(self) -> None:
        speed = self.speed if self.speed is not None else 1.0
        lib.rbpyViewer_Tell(self._store, not self._paused, speed, self._reached)

    # ------------------------------------------------------------------------------------ in threads of browsers

    def _obey(self, client: Any, command: Any) -> Optional[str]:
        """What a browser asks for; returns why not, or None."""
        if not isinstance(command, dict):
            return "a command must be an object"
        what = command.get("do")
        if what in ("play", "pause"):
            self._paused = what == "pause"
            self._tell()
        elif what == "select":
            body = command.get("body")
            if isinstance(body, str):
                body = int(lib.rbpyViewer_FindBody(self._store, body.encode()))
            lib.rbpyClient_Select(client, body if isinstance(body, int) and not isinstance(body, bool) else -1)
        elif what == "overlays":
            lib.rbpyClient_SetOverlays(client, *(bool(command.get(key)) for key in ("contacts", "joints", "rays")))
        else:
            return _REFUSAL
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # close() waits for them
    block_on_close = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], viewer: Viewer) -> None:
        self.viewer = viewer
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5.0

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the page is for the user's own browser."""

    def _allowed(self) -> bool:
        """Only this machine by its own names, so that no other page can reach the world."""
        assert isinstance(self.server, _Server)
        port = self.server.viewer.port
        names = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        origin = self.headers.get("Origin")
        return self.headers.get("Host", "") in names and (origin is None or origin.partition("://")[2] in names)

    def _answer(self, code: int, kind: str, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if not self._allowed():
            self._answer(403, "text/plain; charset=utf-8", b"this address is not one of the viewer's own\n")
        elif path == "/":
            size = ffi.new("size_t*")
            page = lib.rbpyGetPage(size)
            self._answer(200, "text/html; charset=utf-8", ffi.buffer(page, size[0])[:])
        elif path == "/scenes.json":
            self._answer(200, "application/json", b'{"scenes": []}')
        elif path == "/ws" and self.headers.get("Sec-WebSocket-Key"):
            self._stream()
        else:
            self._answer(404, "text/plain; charset=utf-8", b"there is no such page\n")

    # -------------------------------------------------------------------------------------------- WebSocket

    def _stream(self) -> None:
        assert isinstance(self.server, _Server)
        viewer = self.server.viewer
        key = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + _GUID).encode()).digest()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(key).decode())
        self.send_header("Sec-WebSocket-Protocol", "rattleback-1")
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with viewer._lock:
            viewer._clients += 1
            number = viewer._clients
        client = lib.rbpyAddClient(number)
        try:
            while not viewer._closing.is_set() and self._listen(viewer, client):
                self._send_all(viewer, client)
        except (OSError, ValueError):
            pass  # the browser is gone
        finally:
            lib.rbpyRemoveClient(client)
            with viewer._lock:
                viewer._clients -= 1

    def _send_all(self, viewer: Viewer, client: Any) -> None:
        size = ffi.new("size_t*")
        while not viewer._closing.is_set():
            kind = lib.rbpyClient_Next(client, viewer._store, time.monotonic())
            if kind == 0:
                return
            data = lib.rbpyClient_GetBytes(client, size)
            self._send(kind, ffi.buffer(data, size[0])[:])

    def _send(self, opcode: int, data: bytes) -> None:
        if len(data) < 126:
            head = struct.pack("!BB", 0x80 | opcode, len(data))
        elif len(data) < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 126, len(data))
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 127, len(data))
        self.wfile.write(head + data)

    def _listen(self, viewer: Viewer, client: Any) -> bool:
        """Takes what the browser has sent, or waits a little; False: it has gone."""
        if not select.select([self.connection], [], [], 0.01)[0]:
            return True
        first, second = self._read(2)
        size = second & 127
        if size == 126:
            size = struct.unpack("!H", self._read(2))[0]
        if not second & 128 or size > _COMMAND_BYTES or not first & 128:
            return False
        mask = self._read(4)
        data = bytes(byte ^ mask[i & 3] for i, byte in enumerate(self._read(size)))
        if first & 15 == 9:
            self._send(10, data)
        elif first & 15 == 1:
            command = json.loads(data)
            problem = viewer._obey(client, command)
            if isinstance(command, dict) and "id" in command:
                reply = {"type": "reply", "id": command["id"], "ok": problem is None, "error": problem or ""}
                self._send(1, json.dumps(reply).encode())
        return first & 15 != 8

    def _read(self, count: int) -> bytes:
        # Not by rfile, whose buffer select() does not see.
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise OSError("closed")
            data += part
        return data
