// Constants of the elementary functions. Generated: do not edit, run
// tools/elementary_coefficients.py, which says what they are.
#pragma once

// clang-format off

// first guess of the cube root on [1, 8)
static const double cbrtCoefficients[5] = {
    0x1.4ecb7ee28e2bbp-1, 0x1.a612e6bf7887cp-2, -0x1.166aa5a8ad33cp-4,
    0x1.ca0ace5bab84ep-8, -0x1.2e387317adddep-12,
};

// (sinh(x)/x - 1)/z as a polynomial in z = x^2, |x| <= 1
static const double sinhCoefficients[7] = {
    0x1.5555555555555p-3, 0x1.11111111110fdp-7, 0x1.a01a01a01ee70p-13,
    0x1.71de3a4e14f40p-19, 0x1.ae6460fae3728p-26, 0x1.611cb330c1fe8p-33,
    0x1.b41232cf9950fp-41,
};

// clang-format on
