// The table of output formats of `rattleback run`: one row per format, with its options and its
// writer. To add one: docs/adding-a-output.md.
#pragma once

#include "cli/action_player.h"
#include "cli/cli.h"
#include "cli/frames.h"
#include "cli/tally.h"

// A run, as seen by its writers. The pointers are valid from open to finish.
typedef struct rbOutputRun {
    const rbArguments* arguments;
    const rbScene* scene;
    const rbWorld* world;
    rbActionPlayer* player;
    rbFrameBuffer* buffer;
    const rbTally* tally;
    const char* settingsText; // options of the run, a JSON object
    const double* values;     // time (s) and probes at a frame, for rows with needsProbes
    const rbFrame* frame;     // poses at a frame, for rows with needsPoses
    int valueCount;
    uint64_t hash;                       // of the final state, at finish
    const struct rbOutputFormat* format; // the row that is being opened
    // When a run is continued from a checkpoint: the states of all outputs, and that of the output
    // to open. NULL: it starts.
    struct rbStateStream* states;
    struct rbStateStream* state;
} rbOutputRun;

typedef struct rbOutputFormat {
    const char* kind;          // its word in the summary: "csv"
    rbOption option;           // that requests it; its argument is the path
    const rbOption* details;   // further options; may be NULL
    int detailCount;           // number of these
    const void* row;           // of a module; NULL: the format is one of the program
    bool allowsStandardOutput; // the path "-" means standard output
    bool needsProbes;
    bool needsPoses;
    // Checks the options, even when the format is not requested; prints the reason. NULL: accepts
    // any.
    bool (*check)(const rbArguments* arguments);
    // Time between outputs (s) that the format needs when the user gave none. NULL: no preference.
    bool (*chooseStep)(const rbArguments* arguments, double* step);
    // A writer, or NULL with an error. With run->state it continues its file.
    void* (*open)(const rbOutputRun* run, const char* path, rbError* error);
    // Writes the events that the world holds now. NULL: the format has none.
    rbStatus (*writeEvents)(void* writer, const rbOutputRun* run, rbError* error);
    // Writes the current state. NULL: the format has none.
    rbStatus (*writeFrame)(void* writer, const rbOutputRun* run, rbError* error);
    // Completes the file and frees the writer, even on failure.
    rbStatus (*finish)(void* writer, const rbOutputRun* run, rbError* error);
    // Frees the writer and leaves no incomplete file, except for a recording.
    void (*abandon)(void* writer);
    // Makes what is written so far safe on disk and saves the state of the writer, for a
    // checkpoint. NULL: the format cannot be continued.
    rbStatus (*save)(void* writer, struct rbStateStream* stream, rbError* error);
    // The file to name in the summary when it is not the path itself. NULL: the path.
    void (*nameFile)(const char* path, const rbSceneInfo* info, char* text, size_t capacity);
} rbOutputFormat;

// The rows, in the order of the help and of the summary.
// clang-format off
#define RB_OUTPUT_FORMATS(X) \
    X(rbRecordingFormat) \
    X(rbCsvFormat) \
    X(rbJournalFormat) \
    X(rbCertificateFormat) \
    X(rbVtkFormat) \
    X(rbVtkPointsFormat) \
    X(rbPlotFormat) \
    X(rbPageFormat) \
    X(rbPictureFormat) \
    X(rbVideoFormat) \
    X(rbWebmFormat) \
    X(rbGifFormat) \
    X(rbGltfFormat) \
    X(rbUsdFormat)
// clang-format on
#define RB_DECLARE_OUTPUT_FORMAT(row) extern const rbOutputFormat row;
RB_OUTPUT_FORMATS(RB_DECLARE_OUTPUT_FORMAT)
#undef RB_DECLARE_OUTPUT_FORMAT

#define RB_OUTPUT_FORMATS_MAX 24

// The row at an index, NULL when the index is not less than the number of rows.
const rbOutputFormat* rbGetOutputFormat(int index);
// Appends a row, which must outlive the program; call before the first run. Refuses a row without
// option, open, finish or abandon, an option that already exists, and more rows than fit.
rbStatus rbRegisterOutputFormat(const rbOutputFormat* format, rbError* error);
// The options of all rows in their order, for the verb; NULL after the last.
const rbOption* rbGetOutputOption(int index);
