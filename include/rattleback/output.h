/// @file
/// Writing results: recordings, CSV tables, VTK files and plots; and reading recordings back.
///
/// Everything here works on plain frames, without a world, and is in the library rattleback_io, not
/// in the core, hence no RB_API.
///
/// Files appear completely or not at all: a writer works on "PATH.part" next to the final name and
/// renames it, replacing any old file, when it is complete. After a failure the .part is deleted,
/// except that of a recording, which can be read up to the last complete chunk. A path that names a
/// device or a pipe is written directly. While a writer is at work on a path, a second one is
/// refused.
///
/// A full disk, a quota, or a missing or unwritable folder give RB_STATUS_IO with a message that
/// names the file and the cause. A process that limits file sizes (ulimit -f) or writes into pipes
/// should ignore SIGXFSZ and SIGPIPE, as the program rattleback does; the library does not change
/// signal handlers.
///
/// Arguments are borrowed for the call unless stated otherwise. Use a writer from one thread at a
/// time. An error pointer may be NULL.
#ifndef RATTLEBACK_OUTPUT_H
#define RATTLEBACK_OUTPUT_H

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------- frames

/// Energies in J, momenta in kg m/s and kg m^2/s about the world origin, all in the world frame.
typedef struct rbLedgerRow {
    double kineticTranslational; ///< J
    double kineticRotational;    ///< J
    double potential;            ///< J
    double work;                 ///< J, done on the system from outside since the start
    double total;                ///< kinetic + potential
    rbVec3 momentum;             ///< kg m/s
    rbVec3 angularMomentum;      ///< kg m^2/s, about the world origin
} rbLedgerRow;

/// The state of all bodies at one time. Poses are those of the user's body frames; velocities are
/// in the world frame, the linear ones at the origins of the body frames. The arrays have bodyCount
/// elements and may be NULL if it is 0. Any bits are accepted, including NaN.
typedef struct rbFrame {
    double time;                     ///< s
    int bodyCount;                   ///< elements of the arrays
    const rbVec3* positions;         ///< m, of the body frames
    const rbQuat* orientations;      ///< of the body frames, unit quaternions
    const rbVec3* linearVelocities;  ///< m/s, of the origins of the body frames
    const rbVec3* angularVelocities; ///< rad/s, world axes
    rbLedgerRow ledger;              ///< energies and momenta
} rbFrame;

// ------------------------------------------------------------------------------------ recordings
// Lossless: reading returns the bits that were written. The format is in docs/recording-format.md.

/// Maximum bodies of a recording. A reader checks all limits before it allocates anything.
#define RB_RECORDING_BODY_MAX (1 << 21)
#define RB_RECORDING_TEXT_MAX (1 << 28) ///< maximum bytes of a scene or an attachment
/// Maximum number of attachments.
#define RB_RECORDING_ATTACHMENT_MAX 4096
#define RB_RECORDING_ACTION_MAX (1 << 16) ///< maximum bytes of the text of an action

/// A file that the scene refers to, stored in the recording.
typedef struct rbAttachment {
    const char*
        name; ///< as the scene writes it; may be any text; the reader never uses it as a path
    const void* bytes; ///< content of the file
    size_t byteCount;  ///< size of the file
} rbAttachment;

/// The header of a recording. NULL texts count as empty. Zero initialization gives the header of a
/// recording without bodies.
typedef struct rbRecordingHeader {
    const char* programVersion; ///< set by the reader; ignored by the writer, which writes its own
    const char* sceneText;      ///< the complete scene, JSON
    const char* settingsText;   ///< options of the run, a JSON object
    const char* const* bodyNames;    ///< bodyCount texts
    int bodyCount;                   ///< of bodyNames and of every frame
    const rbAttachment* attachments; ///< files that the scene refers to
    int attachmentCount;             ///< at most RB_RECORDING_ATTACHMENT_MAX
} rbRecordingHeader;

/// Index of "no body" in events.
#define RB_RECORDED_NO_BODY UINT32_MAX
/// Number of values of an event.
#define RB_RECORDED_VALUES 12
/// Something that happened between frames. The program records the events of a world (rbEvent),
/// with the values energyBefore, frictionWork, approachSpeed, point, normal, impulse.
typedef struct rbRecordedEvent {
    double time;         ///< s
    uint32_t kind;       ///< defined by the caller; the program stores rbEventKind
    uint32_t bodyA;      ///< index of a body, or RB_RECORDED_NO_BODY
    uint32_t bodyB;      ///< index of a body, or RB_RECORDED_NO_BODY
    uint32_t law;        ///< defined by the caller; the program stores rbImpactLaw
    uint32_t history;    ///< defined by the caller; the program stores rbEvent.history
    double energyChange; ///< J
    double values[RB_RECORDED_VALUES]; ///< recordings of version 1 have four; the others are 0
} rbRecordedEvent;

/// A user action on the world between two advances; with these and the scene a recording can be
/// recomputed. The text is a JSON object, see docs/viewer-protocol.md; this library does not
/// interpret it.
typedef struct rbRecordedAction {
    double time;      ///< s, of the world
    const char* text; ///< a JSON object
} rbRecordedAction;

/// A recording that is being written; opaque.
typedef struct rbRecordingWriter rbRecordingWriter;

/// Starts a recording at path (usual extension .rbr). NULL on failure, with the reason in error.
rbRecordingWriter* rbCreateRecording(const char* path, const rbRecordingHeader* header,
                                     rbError* error);

/// Appends a frame. If it has fewer bodies than the header, the others get NaN. Frames go to the
/// file in chunks of 8 to 64. Does not allocate. After a failure every further call repeats the
/// failure and does nothing.
rbStatus rbRecordingWriter_WriteFrame(rbRecordingWriter* writer, const rbFrame* frame,
                                      rbError* error);

/// Appends events.
rbStatus rbRecordingWriter_WriteEvents(rbRecordingWriter* writer, const rbRecordedEvent* events,
                                       int count, rbError* error);

/// Appends actions, with times in ascending order. Write them before the frame that shows them.
rbStatus rbRecordingWriter_WriteActions(rbRecordingWriter* writer, const rbRecordedAction* actions,
                                        int count, rbError* error);

/// Hands everything so far to the operating system. Compresses less if called for every frame.
rbStatus rbRecordingWriter_Flush(rbRecordingWriter* writer, rbError* error);

/// Completes the file and gives it its final name. finalHash is the hash of the final state, 0 if
/// there is none. The writer is destroyed, even on failure; then the .part remains.
rbStatus rbRecordingWriter_Finish(rbRecordingWriter* writer, uint64_t finalHash, rbError* error);

/// Ends without completing: the data so far remain in the .part, as after a crash. NULL is fine.
void rbRecordingWriter_Abandon(rbRecordingWriter* writer);

/// A recording that is open for reading; opaque.
typedef struct rbRecording rbRecording;

/// Whether a recording is intact to its end.
typedef enum rbRecordingCondition {
    RB_RECORDING_COMPLETE, ///< every byte verified
    RB_RECORDING_CUT_OFF,  ///< the file ends early; all counted frames are good
    RB_RECORDING_DAMAGED,  ///< wrong bytes; all counted frames precede them and are good
    RB_RECORDING_CONDITION_COUNT
} rbRecordingCondition;

/// Contents and condition of a recording.
typedef struct rbRecordingInfo {
    rbRecordingCondition condition; ///< complete, cut off or damaged
    const rbError* trouble; ///< chunk, offset and cause if the condition is not COMPLETE, else NULL
    int formatVersion;      ///< version of the format in the file
    int64_t frameCount;     ///< frames that can be read
    int64_t eventCount;     ///< events that can be read
    int64_t actionCount;    ///< actions that can be read
    int64_t byteCount;      ///< of the file
    int64_t chunkCount;     ///< good chunks
    uint64_t finalHash;     ///< 0 if there is none or the recording is not complete
} rbRecordingInfo;

/// Opens a recording and verifies all its checksums. A file that is cut off or damaged after its
/// header also opens, see rbRecording_GetInfo. NULL on failure, with the reason in error.
rbRecording* rbOpenRecording(const char* path, rbError* error);

/// The same for bytes in memory, which must outlive the recording.
rbRecording* rbOpenRecordingMemory(const void* bytes, size_t byteCount, rbError* error);

/// NULL is fine.
void rbCloseRecording(rbRecording* recording);

/// Scene, settings and names; valid as long as the recording is open.
const rbRecordingHeader* rbRecording_GetHeader(const rbRecording* recording);
/// Condition and counts; valid as long as the recording is open.
rbRecordingInfo rbRecording_GetInfo(const rbRecording* recording);

/// Reads frame index, 0 <= index < frameCount, in any order; sequential reading is cheapest. The
/// arrays of the frame belong to the recording and live until the next rbRecording_ReadFrame.
rbStatus rbRecording_ReadFrame(rbRecording* recording, int64_t index, rbFrame* frame,
                               rbError* error);

/// Copies the events first .. first + count - 1, all of them below eventCount.
rbStatus rbRecording_ReadEvents(rbRecording* recording, int64_t first, int count,
                                rbRecordedEvent* events, rbError* error);

/// All actions in chronological order; valid as long as the recording is open.
const rbRecordedAction* rbRecording_GetActions(const rbRecording* recording, int* count);

// ------------------------------------------------------------------------------------ CSV tables

/// A column; the header cell reads "name [unit]", or "name" if unit is NULL or empty.
typedef struct rbCsvColumn {
    const char* name; ///< of the column
    const char* unit; ///< of the numbers; NULL or empty: none
} rbCsvColumn;

/// A table that is being written; opaque.
typedef struct rbCsv rbCsv;

/// Starts a table with a header line at path; "-" is standard output. Lines end with a line feed,
/// cells are quoted as in RFC 4180. NULL on failure.
rbCsv* rbCreateCsv(const char* path, const rbCsvColumn* columns, int columnCount, rbError* error);

/// Writes a row of columnCount numbers: the shortest of 15, 16 or 17 digits that reads back
/// exactly, with a decimal point in any locale; NaN is nan, infinities are inf and -inf.
rbStatus rbCsv_WriteRow(rbCsv* csv, const double* values, rbError* error);

/// Completes the file and gives it its final name; the writer is destroyed, even on failure.
rbStatus rbCsv_Finish(rbCsv* csv, rbError* error);

/// Deletes what was written. NULL is fine.
void rbCsv_Abandon(rbCsv* csv);

/// Size of the text of any number that rbFormatNumber writes, with its terminator.
#define RB_NUMBER_TEXT_SIZE 32

/// Writes a number like a CSV cell into text of RB_NUMBER_TEXT_SIZE bytes; returns its length.
int rbFormatNumber(double value, char* text);

// ------------------------------------------------------------------------------------- VTK files

/// The surface of a body or a part of it, in the body frame. Copied by rbCreateVtk.
typedef struct rbVtkShape {
    int body;                  ///< index into the frames
    const rbVec3* vertices;    ///< m, body frame
    int vertexCount;           ///< of vertices
    const int (*triangles)[3]; ///< indices into vertices
    int triangleCount;         ///< of triangles
} rbVtkShape;

/// A shape as a point for glyphs. Copied by rbCreateVtkPoints.
typedef struct rbVtkPoint {
    int body;          ///< index into the frames
    rbTransform place; ///< m, frame of the shape in the body frame
    double radius; ///< m, of the smallest sphere about the origin of that frame around the shape
} rbVtkPoint;

/// A series of VTK files that is being written; opaque.
typedef struct rbVtk rbVtk;

/// Starts a series of files DIR/NAME_000000.vtp, ... with DIR/NAME.pvd, which lists them with their
/// times (open that in ParaView). DIR is created if its parent exists. Each .vtp holds the
/// triangles of all shapes in the world, the cell data "body" and the point data "velocity" (m/s).
/// NULL on failure.
rbVtk* rbCreateVtk(const char* directory, const char* name, const rbVtkShape* shapes,
                   int shapeCount, rbError* error);

/// The same with a point for every shape instead of its triangles: at most 100 bytes for each in a
/// file. Point data: "radius" (m), "orientation" (a quaternion w, x, y, z), "velocity" (m/s) and
/// "body", in single precision but for the points. Glyphs of ParaView take them as they are. NULL
/// on failure.
rbVtk* rbCreateVtkPoints(const char* directory, const char* name, const rbVtkPoint* points,
                         int pointCount, rbError* error);

/// Writes the next file. Every shape's body must be below frame->bodyCount.
rbStatus rbVtk_WriteFrame(rbVtk* vtk, const rbFrame* frame, rbError* error);

/// Writes the .pvd, which lists complete files only; the writer is destroyed, even on failure.
rbStatus rbVtk_Finish(rbVtk* vtk, rbError* error);

/// Ends without a .pvd; complete .vtp files stay. NULL is fine.
void rbVtk_Abandon(rbVtk* vtk);

// ----------------------------------------------------------------------------------------- plots

/// How a curve is drawn.
typedef enum rbPlotStyle {
    RB_PLOT_LINES,        ///< a line
    RB_PLOT_POINTS,       ///< points
    RB_PLOT_LINES_POINTS, ///< a line with points
    RB_PLOT_DASHES,       ///< a dashed line
    RB_PLOT_STYLE_COUNT
} rbPlotStyle;

/// A curve. Values that are not finite leave a gap, as do those <= 0 on a logarithmic axis.
typedef struct rbPlotSeries {
    const char* label; ///< NULL or empty: not in the legend
    const double* x;   ///< count values
    const double* y;   ///< count values
    int count;         ///< points of the curve
    rbPlotStyle style; ///< lines, points or both
} rbPlotSeries;

/// Curves over one y axis.
typedef struct rbPlotPanel {
    const char* yLabel; ///< NULL: none. Next to the axis, vertical; if one of a plot is too long
                        ///< for that, all are placed above their panels
    bool isLogY;        ///< true: logarithmic y axis
    const rbPlotSeries* series; ///< seriesCount curves
    int seriesCount;            ///< number of curves
} rbPlotPanel;

/// Panels stacked over a common x axis.
typedef struct rbPlot {
    const char* title;         ///< NULL: none
    const char* xLabel;        ///< NULL: none
    bool isLogX;               ///< true: logarithmic x axis
    const rbPlotPanel* panels; ///< panelCount panels, from the top
    int panelCount;            ///< 1 .. RB_PLOT_PANEL_MAX
} rbPlot;

/// Maximum number of panels of a plot.
#define RB_PLOT_PANEL_MAX 12

/// Draws a plot as SVG, 900 x 540 pixels (taller with more than two panels), with gnuplot as a
/// child process. RB_STATUS_NOT_FOUND if gnuplot is not installed. Labels are plain text: no
/// markup, no commands.
rbStatus rbPlot_WriteSvg(const rbPlot* plot, const char* path, rbError* error);

#ifdef __cplusplus
}
#endif

#endif
