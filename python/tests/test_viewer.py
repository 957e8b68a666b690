"""The live view, seen by a client of its own (docs/viewer-protocol.md)."""
import base64
import http.client
import json
import os
import socket
import struct
import threading
import time

import numpy as np
import pytest

import rattleback as rb


class Browser:
    """A client of the stream: keeps the scene, the poses and the last state."""

    def __init__(self, viewer, origin=None):
        self.socket = socket.create_connection(("127.0.0.1", viewer.port), timeout=10)
        self.replies, self.texts, self.positions, self.time, self.frames = {}, {}, {}, -1.0, 0
        key = base64.b64encode(os.urandom(16)).decode()
        origin = f"Origin: {origin}\r\n" if origin else ""
        self.socket.sendall((f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{origin}"
                             "Sec-WebSocket-Protocol: rattleback-1\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
        self.status = int(head.split()[1])

    def _read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def take(self):
        """One message."""
        first, size = self._read(2)
        if size == 126:
            size = struct.unpack("!H", self._read(2))[0]
        elif size == 127:
            size = struct.unpack("!Q", self._read(8))[0]
        data = self._read(size)
        if first & 15 == 1:
            message = json.loads(data)
            self.texts[message["type"]] = message
            if message["type"] == "reply":
                self.replies[message["id"]] = message
        elif data[0] == 1:
            self.time, count = struct.unpack_from("<dI", data, 8)
            self.frames += 1
            for i in range(count):
                body, x, y, z = struct.unpack_from("<Ifff", data, 24 + 24 * i)
                self.positions[body] = (x, y, z)

    def until(self, condition, seconds=10.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "nothing came"
            self.take()

    def send(self, **command):
        data = json.dumps(command).encode()
        mask = os.urandom(4)
        head = struct.pack("!BB", 0x81, 0x80 | len(data)) if len(data) < 126 else struct.pack("!BBH", 0x81, 0x80 | 126, len(data))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i & 3] for i, byte in enumerate(data)))

    def close(self):
        self.socket.close()


def make():
    world = rb.World(gravity=(0, 0, 0))
    world.add_body(rb.Shape.sphere(0.1), velocity=(1, 0, 0), name="ball")
    world.add_body(rb.Shape.box((1, 1, 1)), position=(0, 3, 0), name="box")
    return world


def test_a_browser_sees_the_steps_of_the_world():
    world = make()
    with world.view(open_browser=False, speed=None) as viewer:
        browser = Browser(viewer)
        assert browser.status == 101
        browser.until(lambda: browser.frames > 0 and "state" in browser.texts)
        assert browser.texts["hello"]["kind"] == "live" and not browser.texts["state"]["canAct"]
        assert [body["name"] for body in browser.texts["scene"]["bodies"]] == ["ball", "box"]
        world.advance(2.0)
        world.body("ball").position = (5, 0, 0)
        world.add_body(rb.Shape.sphere(0.2), position=(0, 0, 7), name="late")
        time.sleep(0.02)
        world.step()
        browser.until(lambda: browser.time == world.time)
        np.testing.assert_allclose(browser.positions[0], world.body("ball").position, atol=1e-5)
        browser.until(lambda: 2 in browser.positions)
        assert browser.positions[2] == (0, 0, 7) and browser.texts["bodies"]["added"][0]["name"] == "late"
        # Going back is seen, too; what another world did is not.
        state = world.snapshot()
        world.advance(0.5)
        world.branch().advance(1.0)
        world.restore(state)
        browser.until(lambda: browser.time == world.time)
        world.linearize()
        time.sleep(0.02)
        rb.step_all([world, make()], 3)
        browser.until(lambda: browser.time == world.time)
        browser.close()
    assert not viewer.is_open
    world.step()  # goes on without it


def test_pause_holds_the_next_step_and_other_commands_are_refused():
    world = make()
    with world.view(open_browser=False, speed=None) as viewer:
        browser = Browser(viewer)
        browser.send(do="pause", id=1)
        browser.send(do="push", id=2, body="ball", impulse=[1, 0, 0])
        browser.send(do="select", id=3, body="ball")
        browser.send(do="overlays", id=4, contacts=True)
        browser.until(lambda: len(browser.replies) == 4)
        assert [browser.replies[i]["ok"] for i in (1, 2, 3, 4)] == [True, False, True, True]
        assert "advanced by Python" in browser.replies[2]["error"]
        thread = threading.Thread(target=lambda: world.step())
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        browser.send(do="play", id=5)
        thread.join(5.0)
        assert not thread.is_alive() and world.time == world.dt
        # A browser that goes away while it holds the world lets it go.
        browser.send(do="pause", id=6)
        browser.until(lambda: 6 in browser.replies)
        browser.close()
        start = time.monotonic()
        world.step()
        assert time.monotonic() - start < 5.0


def test_speed_is_that_of_the_clock():
    world = make()
    with world.view(open_browser=False, speed=2.0):
        start = time.monotonic()
        world.advance(0.6)
        spent = time.monotonic() - start
    assert 0.27 < spent < 2.0
    with pytest.raises(rb.InvalidError, match="positive number"):
        world.view(open_browser=False, speed=0.0)


def test_the_page_is_served_to_this_machine_only():
    world = make()
    with world.view(open_browser=False) as viewer:
        def get(path, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=10)
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

        status, page = get("/")
        assert status == 200 and len(page) > 100000 and b"<title>" in page
        assert get("/", Host="evil.example")[0] == 403
        assert get("/nothing")[0] == 404 and json.loads(get("/scenes.json")[1]) == {"scenes": []}
        stranger = Browser(viewer, origin="http://evil.example")
        assert stranger.status == 403
        stranger.close()
        with pytest.raises(rb.InvalidError, match=f"port {viewer.port}"):
            make().view(open_browser=False, port=viewer.port)
        browser = Browser(viewer)
    # Closed: the connection ends.
    with pytest.raises((EOFError, OSError)):
        while True:
            browser.take()
    world.view(open_browser=False)
    world.close()
    assert repr(viewer) == "<Viewer, closed>"
