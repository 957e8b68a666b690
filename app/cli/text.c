// Text and JSON output of the program, and how it reports failures.
#include "cli/cli.h"

#include <rattleback/output.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Bytes of a control character at the start of a text: ASCII, or U+0080 to U+009F in UTF-8, which
// some terminals obey too. 0: it is none, or a line end or tab.
static int countControl(const char* text)
{
    unsigned char first = (unsigned char)text[0];
    if (first < 0x20 || first == 0x7f) {
        return first == '\n' || first == '\t' || first == '\0' ? 0 : 1;
    }
    unsigned char second = (unsigned char)text[1];
    return first == 0xc2 && second >= 0x80 && second < 0xa0 ? 2 : 0;
}

void rbEscapeText(const char* text, char* escaped, size_t capacity)
{
    size_t used = 0;
    while (*text != '\0' && used + 9 < capacity) {
        int count = countControl(text);
        for (int i = 0; i < count; ++i) {
            used += (size_t)snprintf(escaped + used, capacity - used, "\\x%02x",
                                     (unsigned)(unsigned char)*text++);
        }
        if (count == 0) {
            escaped[used++] = *text++;
        }
    }
    escaped[used] = '\0';
}

const char* rbShow(const char* text)
{
    static _Thread_local char texts[4][1600];
    static _Thread_local int next = 0;
    next = (next + 1) % 4;
    rbEscapeText(text, texts[next], sizeof texts[next]);
    return texts[next];
}

rbExit rbFail(const char* format, ...)
{
    char message[8192];
    char escaped[4 * sizeof message];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(message, sizeof message, format, list);
    va_end(list);
    rbEscapeText(message, escaped, sizeof escaped);
    (void)fprintf(stderr, "rattleback: %s\n", escaped);
    return RB_EXIT_USAGE;
}

rbExit rbFailWith(const rbError* error)
{
    char text[1200];
    rbError_Format(error, text, sizeof text);
    (void)fprintf(stderr, "%s\n", rbShow(text));
    return error->status == RB_STATUS_NUMERICAL ? RB_EXIT_NUMERICAL : RB_EXIT_USAGE;
}

rbExit rbFinishOutput(rbExit exit)
{
    // The reason is known only if this flush fails; an earlier failure left some other call's
    // errno.
    bool hasFailed = fflush(stdout) != 0;
    if (hasFailed) {
        (void)rbFail("standard output cannot be written: %s", strerror(errno));
    } else if (ferror(stdout)) {
        hasFailed = true;
        (void)rbFail("standard output cannot be written; part of it is lost");
    }
    if (hasFailed) {
        return exit == RB_EXIT_DONE ? RB_EXIT_USAGE : exit;
    }
    return exit;
}

const char* rbFormatDuration(double seconds, char* text)
{
    static const struct {
        double limit, factor;
        const char* unit;
    } rows[] = {{1e-6, 1e9, "ns"}, {1e-3, 1e6, "us"}, {1.0, 1e3, "ms"}, {INFINITY, 1.0, "s"}};
    int row = 0;
    while (fabs(seconds) >= rows[row].limit && isfinite(rows[row].limit)) {
        ++row;
    }
    if (seconds == 0.0) {
        row = 3;
    }
    (void)snprintf(text, 32, "%.4g %s", seconds * rows[row].factor, rows[row].unit);
    return text;
}

const char* rbPlural(int64_t count)
{
    return count == 1 ? "" : "s";
}

const char* rbFormatBytes(double bytes, char* text)
{
    static const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000.0 && unit < 4) {
        bytes /= 1000.0;
        ++unit;
    }
    (void)snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

static void writeString(FILE* file, const char* text)
{
    (void)fputc('"', file);
    for (const unsigned char* c = (const unsigned char*)text; *c != 0; ++c) {
        if (*c == '"' || *c == '\\') {
            (void)fprintf(file, "\\%c", *c);
        } else if (*c < 0x20 || *c == 0x7f) {
            (void)fprintf(file, "\\u%04x", *c);
        } else {
            (void)fputc(*c, file);
        }
    }
    (void)fputc('"', file);
}

// Comma, line break, indentation and key of the next item.
static void beginItem(rbJson* json, const char* key)
{
    if (json->depth > 0) {
        bool* hasItems = &json->hasItems[json->depth - 1];
        (void)fprintf(json->file, "%s\n%*s", *hasItems ? "," : "", 2 * json->depth, "");
        *hasItems = true;
    }
    if (key != NULL) {
        writeString(json->file, key);
        (void)fputs(": ", json->file);
    }
}

static void beginBracket(rbJson* json, const char* key, char open, char close)
{
    RB_ASSERT(json->depth < RB_JSON_DEPTH_MAX);
    beginItem(json, key);
    (void)fputc(open, json->file);
    json->brackets[json->depth] = close;
    json->hasItems[json->depth++] = false;
}

void rbJson_BeginObject(rbJson* json, const char* key)
{
    beginBracket(json, key, '{', '}');
}

void rbJson_BeginArray(rbJson* json, const char* key)
{
    beginBracket(json, key, '[', ']');
}

void rbJson_End(rbJson* json)
{
    RB_ASSERT(json->depth > 0);
    --json->depth;
    if (json->hasItems[json->depth]) {
        (void)fprintf(json->file, "\n%*s", 2 * json->depth, "");
    }
    (void)fputc(json->brackets[json->depth], json->file);
    if (json->depth == 0) {
        (void)fputc('\n', json->file);
    }
}

static void writeNumber(FILE* file, double value)
{
    char text[RB_NUMBER_TEXT_SIZE] = "null";
    if (isfinite(value)) {
        (void)rbFormatNumber(value, text);
    }
    (void)fputs(text, file);
}

void rbJson_Number(rbJson* json, const char* key, double value)
{
    beginItem(json, key);
    writeNumber(json->file, value);
}

void rbJson_Integer(rbJson* json, const char* key, int64_t value)
{
    beginItem(json, key);
    (void)fprintf(json->file, "%" PRId64, value);
}

void rbJson_Bool(rbJson* json, const char* key, bool value)
{
    beginItem(json, key);
    (void)fputs(value ? "true" : "false", json->file);
}

void rbJson_Text(rbJson* json, const char* key, const char* text)
{
    beginItem(json, key);
    if (text != NULL) {
        writeString(json->file, text);
    } else {
        (void)fputs("null", json->file);
    }
}

void rbJson_Vec3(rbJson* json, const char* key, rbVec3 value)
{
    const double parts[3] = {value.x, value.y, value.z};
    beginItem(json, key);
    for (int i = 0; i < 3; ++i) {
        (void)fputs(i == 0 ? "[" : ", ", json->file);
        writeNumber(json->file, parts[i]);
    }
    (void)fputc(']', json->file);
}

void rbJson_Error(rbJson* json, const char* key, const rbError* error)
{
    rbJson_BeginObject(json, key);
    rbJson_Text(json, "status", rbStatus_Text(error->status));
    rbJson_Text(json, "file", error->file);
    rbJson_Integer(json, "line", error->line);
    rbJson_Integer(json, "column", error->column);
    rbJson_Text(json, "place", error->place);
    rbJson_Text(json, "message", error->message);
    rbJson_End(json);
}
