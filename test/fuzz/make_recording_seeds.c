// Writes the seed corpus of fuzz_recording into a folder: a few small recordings. Its result is
// committed under test/fuzz/corpus/recording. Run it again when the format changes, under new
// names: those without a number are version 1, those with 2 are version 2, which a test reads.
#include <rattleback/output.h>

#include <stdio.h>

#define BODIES 2

static int writeSeed(const char* folder, const char* name, int bodyCount, int frameCount)
{
    static const char* const names[BODIES] = {"ground", "box"};
    static const rbAttachment mesh = {"a.obj", "v 0 0 0\n", 8};
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.rbr", folder, name);
    rbRecordingHeader header = {.sceneText = "{\"bodies\": []}",
                                .settingsText = "{}",
                                .bodyNames = names,
                                .bodyCount = bodyCount,
                                .attachments = &mesh,
                                .attachmentCount = bodyCount / 2};
    rbError error = {0};
    rbRecordingWriter* writer = rbCreateRecording(path, &header, &error);
    if (writer == NULL) {
        (void)fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < frameCount; ++i) {
        rbVec3 positions[BODIES] = {{0.0, 0.0, 0.0}, {0.01 * i, 1.0, 2.0}};
        rbQuat orientations[BODIES] = {RB_QUAT_IDENTITY, RB_QUAT_IDENTITY};
        rbVec3 velocities[BODIES] = {{0.0, 0.0, 0.0}, {1.0, 0.0, -0.1 * i}};
        rbFrame frame = {.time = 0.01 * i,
                         .bodyCount = bodyCount,
                         .positions = positions,
                         .orientations = orientations,
                         .linearVelocities = velocities,
                         .angularVelocities = velocities};
        rbRecordedEvent event = {.time = frame.time,
                                 .kind = 4,
                                 .bodyA = 0,
                                 .bodyB = 1,
                                 .law = 2,
                                 .history = 0x21,
                                 .energyChange = -0.1,
                                 .values = {1.0, -0.01, 2.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0}};
        rbRecordedAction action = {frame.time, "{\"do\": \"spin\", \"body\": 1}"};
        if (rbRecordingWriter_WriteActions(writer, &action, i % 5 == 0, NULL) != RB_STATUS_OK ||
            rbRecordingWriter_WriteFrame(writer, &frame, NULL) != RB_STATUS_OK ||
            rbRecordingWriter_WriteEvents(writer, &event, i % 3 == 0, NULL) != RB_STATUS_OK) {
            break;
        }
    }
    return rbRecordingWriter_Finish(writer, 1, NULL) == RB_STATUS_OK ? 0 : 1;
}

int main(int argc, char** argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    return writeSeed(argv[1], "empty-3", 0, 0) | writeSeed(argv[1], "one-3", 1, 3) |
           writeSeed(argv[1], "two-3", 2, 100);
}
