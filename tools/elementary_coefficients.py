#!/usr/bin/env python3
"""Writes src/base/math/elementary_tables.h: every constant of the elementary functions; with the
argument "laboratory" those of lab/math/hyperbolic_tables.h.

    python3 tools/elementary_coefficients.py > src/base/math/elementary_tables.h
    python3 tools/elementary_coefficients.py laboratory > lab/math/hyperbolic_tables.h

Needs nothing but Python. Polynomials interpolate their function at Chebyshev nodes, in rational
arithmetic, and are rounded to double at the end; tables are pairs high + low, about 106 bits.
"""
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from math import factorial, floor, isqrt

getcontext().prec = 100
BITS = 1500  # of the fixed point computation of pi


def arctan_inverse(n):
    """atan(1/n) times 2**BITS, rounded down slightly."""
    total, term, k = 0, (1 << BITS) // n, 0
    while term:
        total += term // (2 * k + 1) * (-1) ** k
        term //= n * n
        k += 1
    return total


PI_SCALED = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))  # Machin
PI = Fraction(PI_SCALED >> (BITS - 256), 1 << 256)
LN2 = Fraction(Decimal(2).ln())


def two_over_pi_words(count):
    """Two words of zero (weights 2^63 .. 2^0), then count words of the bits of 2/pi."""
    bits = (2 << (BITS + 32 * count)) // PI_SCALED
    return [0, 0] + [(bits >> (32 * (count - 1 - i))) & 0xFFFFFFFF for i in range(count)]


def arctan(x):
    """atan of a fraction up to 1: halve the angle until the series is short."""
    halvings, scale = 8, 10**90
    for _ in range(halvings):
        root = Fraction(isqrt(int((1 + x * x) * scale * scale)), scale)
        x = Fraction(int(x / (1 + root) * scale), scale)
    total = sum(Fraction((-1) ** k, 2 * k + 1) * x ** (2 * k + 1) for k in range(24))
    return total * 2**halvings


def cosine(x):
    x = Fraction(round(x * 2**90), 2**90)
    return sum((-1) ** k * x ** (2 * k) / factorial(2 * k) for k in range(40))


def interpolate(function, low, high, degree):
    """Coefficients, lowest first, of the interpolant at Chebyshev nodes (Newton form, expanded)."""
    middle, half = (low + high) / 2, (high - low) / 2
    angles = [Fraction(2 * i + 1, 2 * degree + 2) * PI for i in range(degree + 1)]
    nodes = [middle + half * Fraction(round(cosine(a) * 2**80), 2**80) for a in angles]
    table = [function(x) for x in nodes]
    for level in range(1, degree + 1):
        for i in range(degree, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - level])
    result = [Fraction(0)]
    for i in range(degree, -1, -1):
        shifted = [Fraction(0)] + result
        scaled = [-nodes[i] * c for c in result] + [Fraction(0)]
        result = [a + b for a, b in zip(shifted, scaled)]
        result[0] += table[i]
    return result[: degree + 1]


def series(coefficient, terms=40):
    return lambda x: sum(coefficient(k) * x**k for k in range(terms))


def cube_root(x):
    scale = 10**60
    n = int(x * scale**3)
    r = int(round(float(x) ** (1 / 3) * 2**52)) * scale // 2**52
    for _ in range(4):
        r = (2 * r + n // (r * r)) // 3
    return Fraction(r, scale)


def literal(x):
    return float(x).hex()


def pair(x, high_unit=None):
    """high + low; the high part is a multiple of high_unit when one is given."""
    high = Fraction(floor(x / high_unit + Fraction(1, 2))) * high_unit if high_unit else float(x)
    return "{%s, %s}" % (literal(high), literal(x - Fraction(high)))


def array(comment, declaration, items, per_line):
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    body = ",\n    ".join(lines)
    print("\n// %s\nstatic const %s = {\n    %s,\n};" % (comment, declaration, body))


def polynomial(comment, name, coefficients):
    items = [literal(c) for c in coefficients]
    array(comment, "double %s[%d]" % (name, len(items)), items, 3)


def define(comment, name, value):
    line = "#define %s %s" % (name, literal(value))
    print("%s // %s" % (line, comment) if len(line + comment) < 96 else "// %s\n%s" % (comment, line))


def print_sine_and_cosine():
    reach = (PI / 4) ** 2 * Fraction(1001, 1000)
    sine = series(lambda k: Fraction((-1) ** (k + 1), factorial(2 * k + 3)))
    cosine4 = series(lambda k: Fraction((-1) ** k, factorial(2 * k + 4)))
    polynomial("(sin(r)/r - 1)/z as a polynomial in z = r^2, |r| <= pi/4", "sinCoefficients",
               interpolate(sine, Fraction(0), reach, 5))
    polynomial("(cos(r) - 1 + z/2)/z^2 as a polynomial in z = r^2, |r| <= pi/4", "cosCoefficients",
               interpolate(cosine4, Fraction(0), reach, 5))
    half = PI / 2
    part1 = Fraction(floor(half * 2**32), 2**32)
    part2 = Fraction(floor((half - part1) * 2**65), 2**65)
    print()
    define("2/pi", "TWO_OVER_PI", 2 / PI)
    define("pi/2 in three parts; products of the first two with integers below 2^20 are exact",
           "HALF_PI_1", part1)
    define("second part, down to 2^-65", "HALF_PI_2", part2)
    define("third part, rounded", "HALF_PI_3", half - part1 - part2)
    define("pi/2 as high + low", "HALF_PI_HIGH", half)
    define("its low part", "HALF_PI_LOW", half - Fraction(float(half)))
    array("bits of 2/pi, most significant first, after 64 zero bits", "uint32_t twoOverPi[39]",
          ["0x%08xu" % w for w in two_over_pi_words(37)], 7)


def print_arctangent():
    small = series(lambda k: Fraction((-1) ** (k + 1), 2 * k + 3), 60)
    polynomial("(atan(t)/t - 1)/z as a polynomial in z = t^2, |t| <= 1/8", "atanCoefficients",
               interpolate(small, Fraction(0), Fraction(1, 64), 6))
    polynomial("the same for |t| <= 1/120", "atanShortCoefficients",
               interpolate(small, Fraction(0), Fraction(1, 14400), 2))
    array("atan(k/64) as high + low, k = 0 .. 64", "double atanTable[65][2]",
          [pair(arctan(Fraction(k, 64))) for k in range(65)], 2)


def print_exponential():
    step = LN2 / 32
    high = Fraction(floor(step * 2**41), 2**41)
    print()
    define("32/ln 2", "EXP_STEPS_PER_UNIT", 1 / step)
    define("ln 2/32 in two parts; products of the first with integers below 2^16 are exact",
           "EXP_STEP_HIGH", high)
    define("its second part", "EXP_STEP_LOW", step - high)
    tail = series(lambda k: Fraction(1, factorial(k + 2)), 30)
    polynomial("(exp(r) - 1 - r)/r^2, |r| <= ln 2/64", "expCoefficients",
               interpolate(tail, -step * Fraction(51, 100), step * Fraction(51, 100), 4))
    values = [Fraction((Decimal(2).ln() * k / 32).exp()) for k in range(32)]
    array("2^(k/32) as high + low", "double expTable[32][2]", [pair(v) for v in values], 2)


def print_logarithm():
    unit = Fraction(1, 2**42)
    high = Fraction(floor(LN2 / unit)) * unit
    print()
    define("ln 2 in two parts; the first is a multiple of 2^-42", "LN2_HIGH", high)
    define("its second part", "LN2_LOW", LN2 - high)
    tail = series(lambda k: Fraction((-1) ** k, k + 3), 30)
    polynomial("(log(1 + r) - r + r^2/2)/r^3, |r| <= 1/79", "logCoefficients",
               interpolate(tail, -Fraction(1, 79), Fraction(1, 79), 5))
    centers = [Fraction(floor(Fraction(512 * 64, k) + Fraction(1, 2)), 512) for k in range(45, 91)]
    logs = [-Fraction((Decimal(c.numerator) / Decimal(c.denominator)).ln()) for c in centers]
    rows = ["{%s, %s" % (literal(c), pair(t, unit)[1:]) for c, t in zip(centers, logs)]
    array("c near 64/k, a multiple of 2^-9, and -log c, high part a multiple of 2^-42; k = 45..90",
          "double logTable[46][3]", rows, 1)


def print_laboratory():
    polynomial("first guess of the cube root on [1, 8)", "cbrtCoefficients",
               interpolate(cube_root, Fraction(1), Fraction(8), 4))
    sinh = series(lambda k: Fraction(1, factorial(2 * k + 3)))
    polynomial("(sinh(x)/x - 1)/z as a polynomial in z = x^2, |x| <= 1", "sinhCoefficients",
               interpolate(sinh, Fraction(0), Fraction(1), 6))


def main():
    is_laboratory = sys.argv[1:] == ["laboratory"]
    print("// Constants of the elementary functions. Generated: do not edit, run")
    print("// tools/elementary_coefficients.py, which says what they are.")
    print("#pragma once")
    if is_laboratory:
        print("\n// clang-format off")
        print_laboratory()
    else:
        print("\n#include <stdint.h>\n\n// clang-format off")
        print_sine_and_cosine()
        print_arctangent()
        print_exponential()
        print_logarithm()
    print("\n// clang-format on")


if __name__ == "__main__":
    main()
