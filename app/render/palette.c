#include "render/palette.h"

#include "collision/geometry/shape_ops.h"

#include <stdio.h>

#define COLOR_COUNT 10
#define MARK_MIX 0.55 // how far toward white

static const rbColor colors[COLOR_COUNT] = {
    {0xd1, 0x49, 0x5b}, {0x2e, 0x86, 0xab}, {0xed, 0xae, 0x49}, {0x3a, 0x9d, 0x6e},
    {0x8d, 0x5f, 0xa3}, {0xe0, 0x7a, 0x3f}, {0x4d, 0x6c, 0xc1}, {0x7f, 0xb0, 0x4a},
    {0xc5, 0x5f, 0x97}, {0x2a, 0xa6, 0xa1},
};

rbColor rbGetBodyColor(rbBodyType type, int number)
{
    RB_ASSERT(number >= 0);
    static const rbColor others[RB_BODY_TYPE_COUNT] = {
        [RB_BODY_STATIC] = {0xc9, 0xc4, 0xb8},
        [RB_BODY_KINEMATIC] = {0x5b, 0x6b, 0x7c},
    };
    return type == RB_BODY_DYNAMIC ? colors[number % COLOR_COUNT] : others[type];
}

static unsigned char mixWithWhite(unsigned char value)
{
    return (unsigned char)(value + MARK_MIX * (255 - value) + 0.5);
}

rbColor rbGetMarkColor(rbColor color)
{
    return (rbColor){mixWithWhite(color.r), mixWithWhite(color.g), mixWithWhite(color.b)};
}

static rbColor readColor(const char* text, rbColor otherwise)
{
    unsigned r, g, b;
    if (sscanf(text, "#%2x%2x%2x", &r, &g, &b) != 3) { // NOLINT(cert-err34-c): six digits
        return otherwise;
    }
    return (rbColor){(unsigned char)r, (unsigned char)g, (unsigned char)b};
}

rbPaint rbMakePaint(const rbLook* look, rbColor usual)
{
    rbPaint paint = {.color = readColor(look->color, usual),
                     .hasColor = look->color[0] != '\0',
                     .hasRoughness = look->hasRoughness,
                     .opacity = look->hasOpacity ? look->opacity : 1.0,
                     .roughness = look->hasRoughness ? look->roughness : 0.0,
                     .texture = look->texture,
                     .textureSize = look->textureSize};
    paint.second = readColor(look->textureColor, rbGetMarkColor(paint.color));
    return paint;
}

bool rbPaint_HasPattern(const rbPaint* paint)
{
    return paint->texture == RB_TEXTURE_CHECKER || paint->texture == RB_TEXTURE_STRIPES;
}

bool rbPaint_IsSecond(rbTextureType texture, double size, rbVec3 place)
{
    RB_ASSERT(size > 0.0);
    double sum = floor(place.z / size);
    if (texture == RB_TEXTURE_CHECKER) {
        sum += floor(place.x / size) + floor(place.y / size);
    }
    return sum - 2.0 * floor(0.5 * sum) > 0.5; // odd
}

rbMarking rbGetMarking(rbShapeType type)
{
    const rbShapeOps* ops = rbGetShapeOps(type);
    return ops->isRound           ? RB_MARKING_OCTANTS
           : ops->outline != NULL ? RB_MARKING_QUADRANTS
                                  : RB_MARKING_NONE;
}
