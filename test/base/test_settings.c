// Lists of settings, words of enumerations, cookies of definitions, registered rows: every storage,
// every end of a range, every message.
#include "base/core/cookie.h"
#include "base/core/registered_rows.h"
#include "base/core/settings.h"
#include "rb_test.h"

#include <rattleback/vecmath.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Color {
    RED,
    GREEN,
    BLUE
} Color;

static const char* colorOf(int index)
{
    static const char* const names[] = {"red", "green", "blue"};
    return index < 3 ? names[index] : NULL;
}

static const rbWords colorWords = {"color", colorOf};

// clang-format off
#define PAINT_SETTINGS(X) \
    X(double, speed, "speed", 1.5, RB_FROM(-2.0, 8.0), "m/s", "how fast it goes") \
    X(double, mass, "mass", 1.0, RB_ABOVE_OR_NONE(0.0, 10.0), "kg", "how heavy it is") \
    X(double, gap, NULL, 0.5, RB_ABOVE(0.25, 1.0), "", "what is between") \
    X(int, order, "order", 4, RB_STEPS(2.0, 8.0, 2.0), "", "of the method") \
    X(bool, isOn, "on", true, RB_ANY, "", "whether it runs") \
    X(Color, color, "color", GREEN, RB_WORDS(color), "", "of the paint") \
    X(uint64_t, seed, "seed", 7, RB_FROM(0.0, 0x1p53), "", "of the random numbers") \
    X(rbVec3, axis, "axis", RB_VECTOR(0.0, 0.5, 1.0), RB_FROM(-1.0, 1.0), "m", "where it points")
// clang-format on

typedef struct Paint {
    PAINT_SETTINGS(RB_SETTING_FIELD)
} Paint;

#define SETTINGS_STRUCT Paint

static const Paint defaults = {PAINT_SETTINGS(RB_SETTING_DEFAULT)};
static const rbSetting rows[] = {PAINT_SETTINGS(RB_SETTING_ROW)};
enum {
    ROWS = sizeof rows / sizeof rows[0]
};
static const rbSettingList list = {"paint", "The paint.", &defaults, sizeof(Paint), rows, ROWS};

static const rbSetting* findMember(const char* member)
{
    for (int i = 0; i < ROWS; ++i) {
        if (strcmp(rows[i].member, member) == 0) {
            return &rows[i];
        }
    }
    fail_msg("there is no %s", member);
    return NULL;
}

static void defaultsAreWhatTheListSays(void** state)
{
    (void)state;
    static const double expected[] = {1.5, 1.0, 0.5, 4.0, 1.0, 1.0, 7.0};
    static const rbStorage storages[] = {RB_STORAGE_NUMBER,  RB_STORAGE_NUMBER, RB_STORAGE_NUMBER,
                                         RB_STORAGE_INTEGER, RB_STORAGE_SWITCH, RB_STORAGE_WORD,
                                         RB_STORAGE_SEED,    RB_STORAGE_VECTOR};
    for (int i = 0; i < ROWS; ++i) {
        assert_int_equal(rows[i].storage, storages[i]);
        if (i < 7) {
            assert_true(rbSetting_GetNumber(&rows[i], &defaults) == expected[i]);
        }
    }
    assert_int_equal(rbSettingList_Check(&list, &defaults, NULL), RB_STATUS_OK);
    assert_int_equal(rbAccepted_GetCount(&findMember("order")->accepted), 4);
}

// A value that is set is read again, and no other value changes.
static void aValueChangesAlone(void** state)
{
    (void)state;
    static const double values[] = {-1.25, 3.0, 0.75, 6.0, 0.0, 2.0, 0x1p53};
    for (int i = 0; i < 7; ++i) {
        Paint paint = defaults;
        rbSetting_SetNumber(&rows[i], &paint, values[i]);
        for (int k = 0; k < 7; ++k) {
            double number = rbSetting_GetNumber(&rows[k], &paint);
            assert_true(number == (k == i ? values[i] : rbSetting_GetNumber(&rows[k], &defaults)));
        }
        assert_memory_equal(&paint.axis, &defaults.axis, sizeof paint.axis);
    }
    Paint paint = defaults;
    rbSetting_SetNumber(findMember("isOn"), &paint, 0.25);
    assert_true(paint.isOn);
    assert_int_equal(findMember("axis")->offset, offsetof(Paint, axis));
}

static void wordsHaveNumbersAndNumbersWords(void** state)
{
    (void)state;
    const rbSetting* color = findMember("color");
    assert_ptr_equal(color->accepted.words, &colorWords);
    assert_null(findMember("speed")->accepted.words);
    assert_int_equal(rbWords_GetCount(&colorWords), 3);
    assert_string_equal(rbWords_Name(&colorWords, 0), "red");
    assert_string_equal(rbWords_Name(&colorWords, -1), "unknown");
    assert_int_equal(rbWords_Find(&colorWords, "red"), RED);
    assert_int_equal(rbWords_Find(&colorWords, "blue"), BLUE);
    assert_int_equal(rbWords_Find(&colorWords, "blu"), 3);
    assert_int_equal(rbWords_Find(&colorWords, ""), 3);
}

static void keysFindTheirRows(void** state)
{
    (void)state;
    for (int i = 0; i < ROWS; ++i) {
        if (rows[i].key != NULL) {
            assert_ptr_equal(rbSettingList_Find(&list, rows[i].key), &rows[i]);
        }
    }
    assert_null(rbSettingList_Find(&list, "gap")); // a member without a key
    assert_null(rbSettingList_Find(&list, ""));
}

static void rangesEndWhereTheySay(void** state)
{
    (void)state;
    static const struct {
        const char* member;
        double value;
        bool isFine;
    } cases[] = {
        {"speed", -2.0, true},       {"speed", 8.0, true},   {"speed", -2.0000001, false},
        {"speed", 8.0000001, false}, {"speed", NAN, false},  {"speed", INFINITY, false},
        {"speed", -INFINITY, false}, {"mass", 0.0, false},   {"mass", 1e-300, true},
        {"mass", 10.0, true},        {"mass", 10.1, false},  {"mass", INFINITY, true},
        {"mass", -INFINITY, false},  {"mass", NAN, false},   {"gap", 0.25, false},
        {"gap", 0.2500001, true},    {"gap", 1.0, true},     {"gap", INFINITY, false},
        {"order", 2.0, true},        {"order", 3.0, false},  {"order", 5.5, false},
        {"order", 8.0, true},        {"order", 10.0, false}, {"order", 0.0, false},
        {"isOn", 0.0, true},         {"isOn", 1.0, true},    {"color", 0.0, true},
        {"color", 2.0, true},        {"color", 3.0, false},  {"color", -1.0, false},
        {"seed", 0.0, true},         {"seed", 0x1p53, true}, {"seed", 0x1p54, false},
        {"axis", -1.0, true},        {"axis", 1.5, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        bool isFine = rbSetting_IsAccepted(findMember(cases[i].member), cases[i].value);
        if (isFine != cases[i].isFine) {
            fail_msg("%s %g is %s", cases[i].member, cases[i].value, isFine ? "fine" : "refused");
        }
    }
}

static void checkMessage(const Paint* paint, const char* message)
{
    rbError error = {0};
    assert_int_equal(rbSettingList_Check(&list, paint, &error), RB_STATUS_INVALID);
    assert_int_equal(error.status, RB_STATUS_INVALID);
    assert_string_equal(error.message, message);
}

static void whatIsRefusedIsNamed(void** state)
{
    (void)state;
    Paint paint = defaults;
    paint.axis.z = -3.0;
    checkMessage(&paint, "paint.axis is -3 m; expected a number >= -1 and <= 1 m");
    paint.axis.y = 2.0;
    checkMessage(&paint, "paint.axis is 2 m; expected a number >= -1 and <= 1 m");
    paint.axis.x = 4.0;
    checkMessage(&paint, "paint.axis is 4 m; expected a number >= -1 and <= 1 m");
    paint.color = (Color)7;
    checkMessage(&paint, "paint.color: there is no color number 7");
    paint.order = 3;
    checkMessage(&paint, "paint.order is 3; expected 2, 4, 6 or 8");
    paint.gap = 0.25;
    checkMessage(&paint, "paint.gap is 0.25; expected a number > 0.25 and <= 1");
    paint.mass = 0.0;
    checkMessage(&paint, "paint.mass is 0 kg; expected a number > 0 and <= 10 kg");
    paint.speed = NAN; // the first is named
    checkMessage(&paint, "paint.speed is nan m/s; expected a number >= -2 and <= 8 m/s");
    paint = defaults;
    paint.mass = INFINITY;
    assert_int_equal(rbSettingList_Check(&list, &paint, NULL), RB_STATUS_OK);
}

// A range that does not fit is cut, and nothing is written behind it.
static void rangesAreCut(void** state)
{
    (void)state;
    const char whole[] = "expected 2, 4, 6 or 8";
    for (size_t capacity = 1; capacity <= sizeof whole; ++capacity) {
        char text[64];
        memset(text, '#', sizeof text);
        assert_ptr_equal(rbSetting_DescribeRange(findMember("order"), text, capacity), text);
        assert_int_equal(strlen(text), capacity - 1);
        assert_memory_equal(text, whole, capacity - 1);
        for (size_t i = capacity; i < sizeof text; ++i) {
            assert_int_equal(text[i], '#');
        }
    }
}

// ---------------------------------------------------------------------------------------- cookies

static uint32_t stamp(rbDefKind kind, uint32_t abi, size_t size, bool isOurs)
{
    unsigned char def[64];
    memset(def, 0xff, sizeof def);
    assert_int_equal(rbStampDef(def, kind, 40, abi, size), isOurs);
    for (size_t i = sizeof(uint32_t); i < sizeof def; ++i) {
        assert_int_equal(def[i], i < size ? 0 : 0xff);
    }
    uint32_t cookie;
    memcpy(&cookie, def, sizeof cookie);
    return cookie;
}

static void cookiesHoldVersionAndKind(void** state)
{
    (void)state;
    const uint32_t abi = RB_ABI_VERSION;
    for (int kind = RB_KIND_NONE + 1; kind < RB_KIND_COUNT; ++kind) {
        uint32_t cookie = stamp((rbDefKind)kind, abi, 40, true);
        assert_int_equal(cookie, 0x52000000u | abi << 8 | (uint32_t)kind);
        assert_int_equal(rbCheckCookie(cookie, (rbDefKind)kind, NULL), RB_STATUS_OK);
        assert_int_equal(rbCheckCookie(cookie ^ 0x01000000u, (rbDefKind)kind, NULL),
                         RB_STATUS_INVALID);
        assert_int_equal(rbCheckCookie(cookie ^ 0x80u, (rbDefKind)kind, NULL), RB_STATUS_INVALID);
    }
    // of another size than the library's: revision 0; of other headers: theirs
    assert_int_equal(stamp(RB_KIND_BODY, abi, 48, false),
                     0x52000000u | (abi & ~0x3fu) << 8 | RB_KIND_BODY);
    assert_int_equal(stamp(RB_KIND_BODY, 0x20c5u, 40, false), 0x5220c500u | RB_KIND_BODY);
    assert_int_equal(stamp(RB_KIND_BODY, 0x20c5u, 4, false), 0x5220c500u | RB_KIND_BODY);
}

static void cookiesOfOthersAreExplained(void** state)
{
    (void)state;
    rbError error = {0};
    char expected[400];
    uint32_t ours = 0x52000000u | RB_ABI_VERSION << 8;
    assert_int_equal(rbCheckCookie(0, RB_KIND_WORLD, &error), RB_STATUS_INVALID);
    assert_string_equal(error.message, "the definition was not created by rbDefaultWorldDef");
    assert_int_equal(rbCheckCookie(ours | RB_KIND_WORLD, RB_KIND_DISTANCE, &error),
                     RB_STATUS_INVALID);
    assert_string_equal(error.message, "the definition was not created by rbDefaultDistanceInput");
    // headers of 2.3, revision 5
    uint32_t theirs = 0x52000000u | (2u << 12 | 3u << 6 | 5u) << 8 | RB_KIND_JOINT;
    assert_int_equal(rbCheckCookie(theirs, RB_KIND_JOINT, &error), RB_STATUS_UNSUPPORTED);
    (void)snprintf(expected, sizeof expected,
                   "this program was compiled with headers of Rattleback 2.3 (ABI 5), but the "
                   "library is Rattleback %d.%d (ABI %d); compile the program again with the "
                   "headers of this library",
                   RB_VERSION_MAJOR, RB_VERSION_MINOR, RB_ABI_REVISION);
    assert_string_equal(error.message, expected);
    uint32_t sized = (ours & ~0x3f00u) | RB_KIND_JOINT;
    assert_int_equal(rbCheckCookie(sized, RB_KIND_JOINT, &error), RB_STATUS_UNSUPPORTED);
    (void)snprintf(expected, sizeof expected,
                   "Rattleback %d.%d (with a definition of another size), but", RB_VERSION_MAJOR,
                   RB_VERSION_MINOR);
    assert_non_null(strstr(error.message, expected));
}

// ----------------------------------------------------------------------------------- registered
// rows

static void tablesTakeSixteenRows(void** state)
{
    (void)state;
    static const int values[RB_REGISTERED_MAX + 1];
    rbRegisteredRows table = {0};
    rbError error = {0};
    rbNewRow row = {.kind = "broad phase", .name = "octree", .row = &values[0]};
    row.isKnown = true;
    assert_int_equal(rbRegisteredRows_Add(&table, &row, &error), RB_STATUS_INVALID);
    assert_string_equal(error.message, "there is already a broad phase named \"octree\"; register "
                                       "it under another name");
    row.isKnown = false;
    row.name = "";
    assert_int_equal(rbRegisteredRows_Add(&table, &row, &error), RB_STATUS_INVALID);
    assert_string_equal(error.message, "a broad phase to be registered needs a name");
    row.name = NULL;
    assert_int_equal(rbRegisteredRows_Add(&table, &row, &error), RB_STATUS_INVALID);
    assert_int_equal(table.count, 0);
    row.name = "octree";
    for (int i = 0; i < RB_REGISTERED_MAX; ++i) {
        row.row = &values[i];
        assert_int_equal(rbRegisteredRows_Add(&table, &row, &error), RB_STATUS_OK);
        assert_int_equal(table.count, i + 1);
    }
    assert_int_equal(rbRegisteredRows_Add(&table, &row, &error), RB_STATUS_LIMIT);
    assert_string_equal(error.message, "the broad phase \"octree\" does not fit: a table holds at "
                                       "most 16 registered rows");
    for (int i = 0; i < RB_REGISTERED_MAX; ++i) {
        assert_ptr_equal(table.rows[i], &values[i]);
    }
}

static void extraSettingsAreForTheirCookie(void** state)
{
    (void)state;
    rbExtraSettings extra;
    unsigned char bytes[RB_EXTRA_SETTINGS_SIZE], copy[RB_EXTRA_SETTINGS_SIZE];
    memset(&extra, 0xff, sizeof extra);
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (unsigned char)(i + 1);
    }
    rbExtraSettings_Put(&extra, 5, bytes, 20);
    assert_int_equal(extra.cookie, 5);
    assert_memory_equal(extra.words, bytes, 20);
    for (size_t i = 20; i < sizeof bytes; ++i) {
        assert_int_equal(((const unsigned char*)extra.words)[i], 0);
    }
    memset(copy, 0xee, sizeof copy);
    assert_false(rbExtraSettings_Get(&extra, 4, copy, 20));
    assert_int_equal(copy[0], 0xee);
    assert_true(rbExtraSettings_Get(&extra, 5, copy, 20));
    assert_memory_equal(copy, bytes, 20);
    assert_int_equal(copy[20], 0xee);
    rbExtraSettings_Put(&extra, 6, bytes, sizeof bytes);
    assert_true(rbExtraSettings_Get(&extra, 6, copy, sizeof copy));
    assert_memory_equal(copy, bytes, sizeof copy);
}

RB_TEST_GROUP(test_settings, cmocka_unit_test(defaultsAreWhatTheListSays),
              cmocka_unit_test(aValueChangesAlone),
              cmocka_unit_test(wordsHaveNumbersAndNumbersWords),
              cmocka_unit_test(keysFindTheirRows), cmocka_unit_test(rangesEndWhereTheySay),
              cmocka_unit_test(whatIsRefusedIsNamed), cmocka_unit_test(rangesAreCut),
              cmocka_unit_test(cookiesHoldVersionAndKind),
              cmocka_unit_test(cookiesOfOthersAreExplained),
              cmocka_unit_test(tablesTakeSixteenRows),
              cmocka_unit_test(extraSettingsAreForTheirCookie));
