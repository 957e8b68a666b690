#!/usr/bin/env python3
"""Writes the meshes of the contact scenes: bolt, nuts and the gutter of the marble run.

    tools/make_contact_meshes.py [FOLDER]      (scenes/meshes)

Closed surfaces are checked: every edge belongs to two triangles that traverse it in opposite
directions, and the volume is positive.
"""
import math
import sys

PITCH = 0.03  # m per turn
CORE = 0.04  # m, radius of the bolt between its ridges
RIDGE = 0.01  # m, height of a ridge
PLAY = 0.001  # m, between ridge and groove, radially
SEGMENTS = 24  # per turn
# Along one pitch: where the ridge begins and ends, with steep flanks.
BOLT_PROFILE = [(0.0, 0.0), (0.12, 0.0), (0.14, RIDGE), (0.42, RIDGE), (0.44, 0.0)]
NUT_PROFILE = [(0.0, 0.0), (0.12, 0.0), (0.14, RIDGE), (0.78, RIDGE), (0.80, 0.0)]


def write(path, comments, vertices, triangles):
    with open(path, "w", encoding="ascii") as file:
        for comment in comments:
            file.write(f"# {comment}\n")
        for vertex in vertices:
            file.write("v " + " ".join("%.7g" % (round(x, 9) + 0.0) for x in vertex) + "\n")
        for triangle in triangles:
            file.write("f " + " ".join(str(i + 1) for i in triangle) + "\n")


class Thread:
    """A helical ribbon of a profile, closed below and above.

    sign +1: the ridge stands out of a bolt; -1: it stands into a nut, whose outside is a hexagon.
    hand -1: left-handed.
    """

    def __init__(self, turns, profile, base, sign, hand):
        self.turns, self.profile, self.base, self.sign, self.hand = (
            turns, profile, base, sign, hand)
        self.count = int(round(SEGMENTS * turns))
        self.vertices, self.triangles, self.ids = [], [], {}

    def add(self, radius, segment, z):
        angle = 2 * math.pi * (segment % SEGMENTS) / SEGMENTS
        self.vertices.append((radius * math.cos(angle), self.hand * radius * math.sin(angle), z))
        return len(self.vertices) - 1

    def quad(self, a, b, c, d):
        self.triangles += [(a, b, c), (a, c, d)]

    def at(self, i, j, fade):
        """Corner j of the profile at segment i; the ridge fades in and out over a fraction of a turn."""
        if j == len(self.profile):
            return self.at(i + SEGMENTS, 0, fade)
        if (i, j) not in self.ids:
            offset, height = self.profile[j]
            part = max(min(i / (fade * SEGMENTS), (self.count - i) / (fade * SEGMENTS), 1.0), 0.0)
            inside = 0 <= i <= self.count
            radius = self.base + self.sign * height * part if inside else self.base
            self.ids[i, j] = self.add(radius, i, PITCH * (i / SEGMENTS + offset))
        return self.ids[i, j]

    def build(self, fade, margin, width=None):
        n, last, corners = SEGMENTS, self.count, len(self.profile)
        for i in range(last):
            for j in range(corners):
                self.quad(self.at(i, j, fade), self.at(i + 1, j, fade),
                          self.at(i + 1, j + 1, fade), self.at(i, j + 1, fade))
        bottom, top = -margin, PITCH * (self.turns + 1) + margin
        # below: a ring, and a fan to the end of the ribbon where the first turn has risen to it
        low = [self.add(self.base, i, bottom) for i in range(n)]
        for i in range(n - 1):
            self.quad(low[i], low[i + 1], self.at(i + 1, 0, fade), self.at(i, 0, fade))
        chain = [low[0]] + [self.at(0, j, fade) for j in range(corners + 1)]
        chain.append(self.at(n - 1, 0, fade))
        self.triangles += [(low[n - 1], p, q) for p, q in zip(chain, chain[1:])]
        # above: the same
        high = [self.add(self.base, last + i, top) for i in range(n)]
        edge = [self.at(last - n + i, corners, fade) for i in range(n + 1)]
        for i in range(1, n):
            self.quad(edge[i], edge[i + 1], high[(i + 1) % n], high[i])
        chain = [high[0]] + [self.at(last, j, fade) for j in range(corners, -1, -1)] + [edge[1]]
        self.triangles += [(high[1], p, q) for p, q in zip(chain, chain[1:])]
        if width is None:
            self.close_solid(low, high, bottom, top)
        else:
            self.close_hexagon(low, high, bottom, top, width)
        if (self.hand < 0) != (self.sign < 0):
            self.triangles = [(a, c, b) for a, b, c in self.triangles]
        self.check()
        return self.vertices, self.triangles

    def close_solid(self, low, high, bottom, top):
        below, above = self.add(0, 0, bottom), self.add(0, 0, top)
        for i in range(SEGMENTS):
            k = (i + 1) % SEGMENTS
            self.triangles += [(low[k], low[i], below), (high[i], high[k], above)]

    def close_hexagon(self, low, high, bottom, top, width):
        n, last = SEGMENTS, self.count

        def radius(segment):
            angle = 2 * math.pi * (segment % n) / n
            return width / math.cos((angle + math.pi / 6) % (math.pi / 3) - math.pi / 6)

        below = [self.add(radius(i), i, bottom) for i in range(n)]
        above = [self.add(radius(last + i), last + i, top) for i in range(n)]
        over = [above[(i - last) % n] for i in range(n)]  # by the angle
        for i in range(n):
            k = (i + 1) % n
            self.quad(below[i], over[i], over[k], below[k])
            self.quad(low[i], below[i], below[k], low[k])
            self.quad(high[i], high[k], above[k], above[i])

    def check(self):
        edges = set()
        for triangle in self.triangles:
            for a, b in zip(triangle, triangle[1:] + triangle[:1]):
                assert a != b and (a, b) not in edges, (self.vertices[a], self.vertices[b])
                edges.add((a, b))
        assert all((b, a) in edges for a, b in edges)
        volume = 0.0
        for a, b, c in self.triangles:
            p, q, r = (self.vertices[i] for i in (a, b, c))
            volume += (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
                       p[2] * (q[0] * r[1] - q[1] * r[0]))
        assert volume > 0.0


def make_gutter(radius, fall, turns, segments, width):
    """Part of a torus that descends along its arc, 80 degrees inward to 100 outward."""
    slices, last = 12, int(segments * turns)
    vertices, triangles = [], []
    for i in range(last + 1):
        angle, z = 2 * math.pi * i / segments, -fall * i / segments
        for j in range(slices + 1):
            side = math.radians(-80 + 180 * j / slices)
            r = radius + width * math.sin(side)
            vertices.append((r * math.cos(angle), r * math.sin(angle), z - width * math.cos(side)))
    for i in range(last):
        for j in range(slices):
            a = i * (slices + 1) + j
            b, c, d = a + 1, a + slices + 1, a + slices + 2
            triangles += [(a, c, d), (a, d, b)]
    return vertices, triangles


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "scenes/meshes"
    bolt = Thread(7, BOLT_PROFILE, CORE, +1, +1).build(0.5, 0.005)
    write(f"{folder}/bolt.obj", [
        "A bolt along z, meters: core 40 mm, crest 50 mm, one right-handed thread of pitch 30 mm,",
        "8 turns of 24 segments that fade out at both ends."], *bolt)
    for hand, name, side in ((+1, "nut", "right"), (-1, "nut-left", "left")):
        nut = Thread(2, NUT_PROFILE, CORE + RIDGE + PLAY, -1, hand).build(0.25, 0.002, 0.08)
        write(f"{folder}/{name}.obj", [
            "A hexagonal nut along z, meters: groove 51 mm, ridge 41 mm, "
            f"one {side}-handed thread of pitch 30 mm."], *nut)
    write(f"{folder}/marble-run.obj", [
        "A gutter round z, meters: 2.75 turns of radius 0.2 m, 0.12 m down a turn; "
        "open, seen from inside."], *make_gutter(0.2, 0.12, 2.75, 64, 0.02))


if __name__ == "__main__":
    main()
