// The store and the stream: the state that a client assembles from messages is that of the world.
#include "client.h"
#include "rb_test.h"
#include "session/store.h"
#include "session/stream.h"

#include <rattleback/scene.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// A scene with its world, its store and a client of it.
typedef struct Stage {
    rbScene* scene;
    rbWorld* world;
    rbStore* store;
    rbStreamCursor cursor;
    rbMessage message;
    rbClientModel* client;
} Stage;

static double getWallTime(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void openStage(Stage* stage, rbScene* scene, rbError* error)
{
    if (scene == NULL) {
        print_error("%s\n", error->message);
    }
    assert_non_null(scene);
    memset(stage, 0, sizeof *stage);
    stage->scene = scene;
    stage->world = rbScene_CreateWorld(scene, error);
    assert_non_null(stage->world);
    assert_int_equal(rbScene_PrepareWorld(scene, stage->world, error), RB_STATUS_OK);
    stage->store = rbCreateStore(scene, stage->world, error);
    assert_non_null(stage->store);
    stage->client = rbCreateClientModel();
    stage->cursor.kind = "page";
    stage->cursor.isUnbounded = true;
}

static void openScene(Stage* stage, const char* name)
{
    char path[512];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "%s/scenes/%s.json", RB_SOURCE_DIR, name);
    openStage(stage, rbReadScene(path, &error), &error);
}

static void openText(Stage* stage, const char* text)
{
    rbError error = {0};
    openStage(stage, rbReadSceneText(text, strlen(text), NULL, &error), &error);
}

static void closeStage(Stage* stage)
{
    rbStreamCursor_Free(&stage->cursor);
    rbMessage_Free(&stage->message);
    rbDestroyClientModel(stage->client);
    rbDestroyStore(stage->store);
    rbDestroyWorld(stage->world);
    rbDestroyScene(stage->scene);
}

static int drain(Stage* stage)
{
    int count = 0;
    while (rbStream_Next(stage->store, &stage->cursor, &stage->message)) {
        rbClientModel_Take(stage->client, rbMessage_GetBytes(&stage->message), stage->message.size,
                           stage->message.isText);
        ++count;
        assert_true(count < 100000);
    }
    return count;
}

static void advance(Stage* stage, double dt, int frames)
{
    for (int i = 0; i < frames; ++i) {
        (void)rbWorld_Advance(stage->world, dt);
        rbStore_TakeEvents(stage->store, stage->world);
        rbStore_TakeFrame(stage->store, stage->world);
    }
}

// Positions to single precision, orientations to the 20 bits of the wire.
static void checkPoses(const Stage* stage)
{
    for (int i = 0; i < rbStore_GetBodyCount(stage->store); ++i) {
        rbBodyId id = rbStore_GetBodyId(stage->store, i);
        const rbClientPose* pose = &stage->client->poses[i];
        if (RB_IS_NULL(id)) {
            assert_false(pose->isKnown);
            continue;
        }
        rbTransform truth = rbBody_GetState(stage->world, id).transform;
        assert_true(pose->isKnown && pose->hasPose);
        assert_true((float)truth.p.x == (float)pose->position[0]);
        assert_true((float)truth.p.y == (float)pose->position[1]);
        assert_true((float)truth.p.z == (float)pose->position[2]);
        const double q[4] = {truth.q.w, truth.q.x, truth.q.y, truth.q.z};
        double dot = 0.0;
        for (int k = 0; k < 4; ++k) {
            dot += q[k] * pose->orientation[k];
        }
        for (int k = 0; k < 4; ++k) {
            checkNear((dot < 0.0 ? -1.0 : 1.0) * pose->orientation[k], q[k], 2.1e-6);
        }
    }
}

// L-108
static void aClientHasWhatTheWorldHas(void** state)
{
    (void)state;
    static const char* const names[] = {"rattleback", "shapes", "dominoes", "double-pendulum",
                                        "kinematic-carousel"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        Stage stage;
        openScene(&stage, names[i]);
        (void)drain(&stage);
        assert_string_equal(json_string_value(json_object_get(stage.client->hello, "scene")),
                            names[i]);
        assert_string_equal(json_string_value(json_object_get(stage.client->hello, "kind")),
                            "page");
        checkPoses(&stage);
        for (int k = 0; k < 5; ++k) {
            advance(&stage, 0.01, 3);
            (void)drain(&stage);
            checkPoses(&stage);
            assert_true(stage.client->time == rbWorld_GetTime(stage.world));
        }
        assert_int_equal(stage.client->rowCount, 16);
        assert_int_equal(drain(&stage), 0);
        closeStage(&stage);
    }
}

// B-89
static void samplesAreTheLedgerAndTheProbes(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "double-pendulum");
    advance(&stage, 0.02, 10);
    (void)drain(&stage);
    const json_t* columns = json_object_get(stage.client->scene, "columns");
    rbLedger ledger = rbWorld_GetLedger(stage.world);
    const struct {
        const char* name;
        double truth;
    } rows[] = {{"kinetic linear", ledger.kineticLinear},
                {"potential", ledger.potential},
                {"total", ledger.energy},
                {"drift", ledger.energyDrift},
                {"momentum x", ledger.momentum.x},
                {"dissipation", ledger.dissipation},
                {"angular momentum y", ledger.angularMomentum.y},
                {"joint error so far", rbWorld_GetStepStatistics(stage.world).positionErrorMax}};
    const double* last = stage.client->samples + (size_t)(stage.client->rowCount - 1) *
                                                     (size_t)(stage.client->columnCount + 1);
    assert_true(last[0] == rbWorld_GetTime(stage.world));
    int found = 0;
    for (int i = 0; i < stage.client->columnCount; ++i) {
        const json_t* column = json_array_get(columns, (size_t)i);
        const char* name = json_string_value(json_object_get(column, "name"));
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
            if (strcmp(name, rows[k].name) == 0) {
                ++found;
                assert_true(last[1 + i] == rows[k].truth);
            }
        }
    }
    assert_int_equal(found, sizeof rows / sizeof rows[0]);
    double probes[256];
    int count = rbScene_EvaluateProbes(stage.scene, stage.world, probes, 256);
    assert_true(count > 0 && count < 256);
    for (int i = 0; i < count; ++i) {
        assert_true(last[1 + stage.client->columnCount - count + i] == probes[i]);
    }
    closeStage(&stage);
}

// All events of a run arrive in order; the impulse of the first one is that of the journal.
static void eventsArriveInOrder(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "rattleback");
    rbEvent first = {0};
    int total = 0;
    for (int i = 0; i < 40; ++i) {
        (void)rbWorld_Advance(stage.world, 0.005);
        int count = 0;
        const rbEvent* events = rbWorld_GetEvents(stage.world, &count);
        if (total == 0 && count > 0) {
            first = events[0];
        }
        total += count;
        rbStore_TakeEvents(stage.store, stage.world);
        rbStore_TakeFrame(stage.store, stage.world);
        if (i % 7 == 0) {
            (void)drain(&stage);
        }
    }
    (void)drain(&stage);
    assert_true(total > 5);
    assert_int_equal(stage.client->eventCount, total);
    assert_int_equal(rbStore_GetEventCount(stage.store), total);
    assert_int_equal(stage.client->eventFlags, 0);
    const rbClientEvent* event = &stage.client->events[0];
    assert_true(event->time == first.time && event->energyChange == first.energyChange);
    assert_true(event->energyBefore == first.energyBefore);
    assert_true(event->impulse[2] == (float)first.impulse.z);
    assert_int_equal(event->kind, first.kind);
    assert_int_equal(event->law, first.law);
    assert_int_equal(event->history, first.history);
    closeStage(&stage);
}

// The forces of all contacts carry the weight of a block at rest, and the detail agrees.
static void contactsCarryTheWeight(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "pyramid");
    rbStreamCursor_SetOverlays(&stage.cursor, true, true, false);
    advance(&stage, 0.02, 3);
    (void)drain(&stage);
    assert_true(stage.client->contactCount > 10);
    assert_int_equal(stage.client->jointCount, 0);
    assert_int_equal(stage.client->counts[4], 1); // only of the frame shown
    int views = rbWorld_GetContacts(stage.world, NULL, 0);
    assert_int_equal(stage.client->contactCount, views);
    for (int i = 0; i < rbStore_GetBodyCount(stage.store); ++i) {
        rbBodyId id = rbStore_GetBodyId(stage.store, i);
        if (rbBody_GetType(stage.world, id) != RB_BODY_DYNAMIC) {
            continue;
        }
        stage.cursor.now += 1.0;
        rbStreamCursor_Select(&stage.cursor, i);
        (void)drain(&stage);
        assert_int_equal((int)rbClientModel_GetNumber(stage.client->detail, "body"), i);
        rbVec3 force = rbBody_GetContactForce(stage.world, id, (rbBodyId){0}, NULL);
        const json_t* told = json_object_get(stage.client->detail, "contactForce");
        double size = 1.0 + rbLength(force);
        checkNear(json_number_value(json_array_get(told, 2)), force.z, 1e-5 * size);
        checkNear(json_number_value(json_array_get(told, 0)), force.x, 1e-5 * size);
    }
    closeStage(&stage);
}

// Rays of the pair that touches next: sent to clients that request them, where contact is found by
// rays. The shortest ends where the bodies will touch.
static void raysAreSentToThoseWhoAsk(void** state)
{
    (void)state;
    static const char* const text =
        "{\"rattleback\": 1, \"engine\": \"event\", \"detector\": \"rays\", \"rays\": {\"count\": "
        "1500}, \"world\": {\"gravity\": [0, 0, 0]}, \"bodies\": ["
        "{\"velocity\": [1, 0, 0], \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": "
        "0.5}}]}, {\"position\": [2, 0, 0], \"shapes\": [{\"geometry\": {\"type\": \"box\", "
        "\"size\": [1, 1, 1]}}]}]}";
    Stage stage;
    openText(&stage, text);
    advance(&stage, 0.2, 4);
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[8], 0);
    assert_string_equal(json_string_value(json_object_get(stage.client->scene, "detector")),
                        "rays");
    rbStreamCursor_SetOverlays(&stage.cursor, false, false, true);
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[8], 1);
    assert_true(stage.client->rayCount > 1500 && stage.client->rayCount <= RB_STORE_RAYS_MAX);
    assert_true(stage.client->rayHits > 100);
    assert_int_equal(stage.client->rayShortest, 1);
    checkNear((double)stage.client->shortestRay[0], 1.3, 1e-3); // the front of the ball
    checkNear((double)stage.client->shortestRay[3], 1.5, 1e-3); // the face of the box
    closeStage(&stage);
    // a request where there are none returns nothing
    openScene(&stage, "billiard-break");
    rbStreamCursor_SetOverlays(&stage.cursor, false, false, true);
    advance(&stage, 0.02, 2);
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[8], 0);
    closeStage(&stage);
}

// The detail of a body follows from its state.
static void detailsFollowFromTheState(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "tumbling-box");
    advance(&stage, 0.1, 7);
    rbStreamCursor_Select(&stage.cursor, 0);
    (void)drain(&stage);
    rbBodyState body = rbBody_GetState(stage.world, rbStore_GetBodyId(stage.store, 0));
    rbLedger ledger = rbWorld_GetLedger(stage.world);
    const json_t* detail = stage.client->detail;
    const json_t* velocity = json_object_get(detail, "velocity");
    checkNear(json_number_value(json_array_get(velocity, 0)), body.linearVelocity.x, 1e-12);
    checkRelative(rbClientModel_GetNumber(detail, "kinetic"),
                  ledger.kineticLinear + ledger.kineticAngular, 1e-12);
    checkRelative(rbClientModel_GetNumber(detail, "kineticAngular"), ledger.kineticAngular, 1e-9);
    // A changed mass is reported too.
    rbBodyId id = rbStore_GetBodyId(stage.store, 0);
    assert_int_equal(rbBody_SetMass(stage.world, id, 70.0, NULL), RB_STATUS_OK);
    rbStore_TakeFrame(stage.store, stage.world);
    stage.cursor.now += 1.0;
    (void)drain(&stage);
    ledger = rbWorld_GetLedger(stage.world);
    checkNear(rbClientModel_GetNumber(stage.client->detail, "mass"), 70.0, 1e-12);
    checkRelative(rbClientModel_GetNumber(stage.client->detail, "kinetic"),
                  ledger.kineticLinear + ledger.kineticAngular, 1e-12);
    closeStage(&stage);
}

// The mass of the first body, changed and told after a time.
static double tellMass(Stage* stage, double mass, double later)
{
    rbBodyId id = rbStore_GetBodyId(stage->store, 0);
    assert_int_equal(rbBody_SetMass(stage->world, id, mass, NULL), RB_STATUS_OK);
    rbStore_TakeFrame(stage->store, stage->world);
    stage->cursor.now += later;
    (void)drain(stage);
    return rbClientModel_GetNumber(stage->client->detail, "mass");
}

// While time runs the next detail would come anyway; while it stands still a change must not wait
// for another one.
static void detailsAreTakenAtOnceWhileTimeStandsStill(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "tumbling-box");
    stage.cursor.isUnbounded = false;
    stage.cursor.now = 10.0;
    rbStreamCursor_Select(&stage.cursor, 0);
    checkNear(tellMass(&stage, 50.0, 1.0), 50.0, 1e-12);
    checkNear(tellMass(&stage, 60.0, 0.001), 60.0, 1e-12);
    const rbPlayState playing = {.isPlaying = true, .speed = 1.0, .frameStep = 0.01};
    rbStore_SetPlayState(stage.store, &playing);
    checkNear(tellMass(&stage, 70.0, 0.001), 60.0, 1e-12);
    checkNear(tellMass(&stage, 80.0, 1.0), 80.0, 1e-12);
    closeStage(&stage);
}

// A joint of the overlay: both of its points are at the anchors of the joint.
static void jointsAreSentToThoseWhoAsk(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "double-pendulum");
    advance(&stage, 0.02, 2);
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[6], 0);
    rbStreamCursor_SetOverlays(&stage.cursor, false, true, false);
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[6], 1);
    assert_int_equal(stage.client->jointCount, rbWorld_GetJointCount(stage.world));
    rbJointState joint = rbJoint_GetState(stage.world, rbStore_GetJointId(stage.store, 0));
    assert_true(stage.client->jointPoints[0] == (float)joint.pointA.x);
    assert_true(stage.client->jointPoints[5] == (float)joint.pointB.z);
    const json_t* joints = json_object_get(stage.client->scene, "joints");
    assert_int_equal(json_array_size(joints), rbWorld_GetJointCount(stage.world));
    closeStage(&stage);
}

// Triangles of a mesh enclose the volume of the solid, so all are present and outward.
static void meshesEncloseTheirVolume(void** state)
{
    (void)state;
    Stage stage;
    openText(&stage, "{\"rattleback\":1,\"bodies\":[{\"name\":\"a\",\"shapes\":[{\"geometry\":{"
                     "\"type\":\"compound\",\"parts\":[{\"geometry\":{\"type\":\"box\",\"size\":"
                     "[1,2,3]}},{\"geometry\":{\"type\":\"box\",\"size\":[1,1,1]},\"position\":"
                     "[5,0,0]}]}}]}]}");
    (void)drain(&stage);
    assert_int_equal(stage.client->meshCount, 1);
    checkRelative(stage.client->meshVolume, 7.0, 1e-5);
    closeStage(&stage);
}

// 1,000 bodies that all move: bytes on the wire, and how long the store is locked for a frame.
// L-109
static void aThousandBodiesTakeFewBytes(void** state)
{
    (void)state;
    Stage stage;
    openText(&stage,
             "{\"rattleback\":1,\"engine\":\"flight\",\"bodies\":[{\"name\":\"b\",\"mass\":1,"
             "\"shapes\":[{\"geometry\":{\"type\":\"box\",\"size\":[0.1,0.2,0.3]}}],"
             "\"scatter\":{\"count\":1000,\"box\":[10,10,10],\"speed\":1,\"spin\":3}}]}");
    (void)drain(&stage);
    size_t before = stage.client->frameBytes;
    size_t poses = stage.client->poseSum;
    const int frames = 20;
    double slowest = 0.0;
    double fastest = 1.0;
    for (int i = 0; i < frames; ++i) {
        advance(&stage, 1.0 / 60.0, 1);
        stage.cursor.turn = 0;
        double start = getWallTime();
        assert_true(rbStream_Next(stage.store, &stage.cursor, &stage.message));
        double time = getWallTime() - start;
        slowest = time > slowest ? time : slowest;
        fastest = time < fastest ? time : fastest;
        rbClientModel_Take(stage.client, rbMessage_GetBytes(&stage.message), stage.message.size,
                           stage.message.isText);
        (void)drain(&stage);
    }
    assert_int_equal(stage.client->poseSum - poses, 1000 * frames);
    double bytes = (double)(stage.client->frameBytes - before) / (1000.0 * frames);
    print_message("%.2f bytes per body and frame, %.0f to %.0f us for a frame of 1000\n", bytes,
                  1e6 * fastest, 1e6 * slowest);
    checkBelow(bytes, 40.0);
    checkBelow(fastest, 1e-3);
    checkPoses(&stage);
    closeStage(&stage);
}

// Bodies at rest are not sent again.
static void onlyWhatMovesIsSent(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "shapes");
    (void)drain(&stage);
    size_t poses = stage.client->poseSum;
    int frames = stage.client->counts[1];
    rbStore_TakeFrame(stage.store, stage.world); // no time has passed
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[1], frames + 1);
    assert_true(stage.client->poseSum == poses);
    closeStage(&stage);
}

// A slow client gets fewer frames but every sample.
static void slowClientsMissFramesNotSamples(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "tumbling-box");
    stage.cursor.isUnbounded = false;
    (void)drain(&stage);
    int frames = stage.client->counts[1];
    advance(&stage, 0.01, 500);
    stage.cursor.now += 10.0;
    (void)drain(&stage);
    assert_int_equal(stage.client->counts[1], frames + 1);
    assert_int_equal(stage.client->rowCount, 501);
    checkPoses(&stage);
    // One message at a time while frames keep coming: the other messages are not starved.
    for (int i = 0; i < 100; ++i) {
        advance(&stage, 0.01, 1);
        stage.cursor.now += 0.2;
        assert_true(rbStream_Next(stage.store, &stage.cursor, &stage.message));
        rbClientModel_Take(stage.client, rbMessage_GetBytes(&stage.message), stage.message.size,
                           stage.message.isText);
    }
    assert_true(stage.client->rowCount > 590);
    assert_true(stage.client->counts[1] > frames + 30);
    closeStage(&stage);
}

// Rewinding shows an earlier frame; continuing from there discards the later frames.
static void rewindingAndBranching(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "rattleback");
    advance(&stage, 0.01, 50);
    (void)drain(&stage);
    int events = stage.client->eventCount;
    assert_true(rbStore_Show(stage.store, 0.203));
    assert_int_equal(drain(&stage), 2); // frame and state
    checkNear(stage.client->time, 0.2, 1e-12);
    assert_int_equal(stage.client->frameFlags & 2, 2);
    checkNear(rbClientModel_GetNumber(stage.client->state, "endTime"), 0.5, 1e-12);
    assert_int_equal(stage.client->rowCount, 51);
    rbStore_DropAfter(stage.store, 0.2);
    (void)drain(&stage);
    assert_int_equal(stage.client->rowCount, 21);
    assert_true(stage.client->eventCount < events);
    checkNear(stage.client->dropTime, 0.2, 0.0);
    assert_int_equal(rbStore_GetFrameCount(stage.store), 21);
    checkNear(rbStore_GetEndTime(stage.store), 0.2, 1e-12);
    // A different history: a world of the same scene that was pushed.
    rbDestroyWorld(stage.world);
    stage.world = rbScene_CreateWorld(stage.scene, NULL);
    (void)rbWorld_AdvanceTo(stage.world, rbStore_GetEndTime(stage.store));
    rbWorld_ClearEvents(stage.world);
    rbBodyId body = rbStore_GetBodyId(stage.store, 1);
    rbBody_ApplyImpulse(stage.world, body, rbMakeVec3(0.1, 0.0, 0.0),
                        rbBody_GetState(stage.world, body).center);
    rbStore_TakeFrame(stage.store, stage.world);
    assert_int_equal(rbStore_GetFrameCount(stage.store), 21); // replaced
    advance(&stage, 0.01, 5);
    (void)drain(&stage);
    checkPoses(&stage);
    assert_int_equal(stage.client->rowCount, 26);
    assert_int_equal(stage.client->eventCount, rbStore_GetEventCount(stage.store));
    closeStage(&stage);
}

// A client that slept through several branches ends with the same rows as one that did not.
static void missedBranchesAreOne(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "rattleback");
    advance(&stage, 0.01, 30);
    (void)drain(&stage);
    for (int i = 0; i < 200; ++i) {
        rbStore_DropAfter(stage.store, 0.1 + 0.001 * ((i * 37) % 100));
        double end = rbStore_GetEndTime(stage.store);
        rbDestroyWorld(stage.world);
        stage.world = rbScene_CreateWorld(stage.scene, NULL);
        (void)rbWorld_AdvanceTo(stage.world, end);
        rbWorld_ClearEvents(stage.world);
        advance(&stage, 0.01, 2);
    }
    (void)drain(&stage);
    assert_int_equal(stage.client->rowCount, rbStore_GetFrameCount(stage.store));
    assert_int_equal(stage.client->eventCount, rbStore_GetEventCount(stage.store));
    size_t width = (size_t)stage.client->columnCount + 1;
    for (int i = 0; i < stage.client->rowCount; ++i) {
        assert_true(stage.client->samples[(size_t)i * width] ==
                    rbStore_GetFrameTime(stage.store, i));
    }
    checkPoses(&stage);
    closeStage(&stage);
}

static rbBodyId addBall(rbWorld* world, const char* name)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.name = name;
    def.type = RB_BODY_DYNAMIC;
    def.position = rbMakeVec3(0.0, 0.0, 5.0);
    rbBodyId id = rbCreateBody(world, &def, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.3, NULL));
    (void)rbCreateShape(world, id, &shape, NULL);
    return id;
}

// Bodies are added and removed; an earlier time shows the bodies of that time.
static void bodiesComeAndGo(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "tumbling-box");
    advance(&stage, 0.1, 5);
    (void)drain(&stage);
    rbBodyId ball = addBall(stage.world, "ball");
    int number = rbStore_AddBody(stage.store, stage.world, ball, NULL);
    assert_int_equal(number, 1);
    advance(&stage, 0.1, 5);
    (void)drain(&stage);
    checkPoses(&stage);
    const json_t* added = json_object_get(stage.client->bodies, "added");
    assert_int_equal(json_array_size(added), 1);
    assert_int_equal(json_array_size(json_object_get(stage.client->bodies, "geometries")), 1);
    rbBodyId box = rbStore_GetBodyId(stage.store, 0);
    rbDestroyBody(stage.world, box);
    rbStore_DeleteBody(stage.store, 0);
    assert_int_equal(rbStore_FindBody(stage.store, box), -1);
    assert_int_equal(rbStore_FindBodyByName(stage.store, "ball"), 1);
    advance(&stage, 0.1, 5);
    (void)drain(&stage);
    checkPoses(&stage);
    assert_false(stage.client->poses[0].isKnown);
    assert_true(rbStore_Show(stage.store, 0.3)); // before the ball was added
    (void)drain(&stage);
    assert_true(stage.client->poses[0].isKnown && stage.client->poses[0].hasPose);
    assert_false(stage.client->poses[1].isKnown);
    // A client that connects now sees the same.
    rbStreamCursor late = {.kind = "live"};
    rbClientModel* model = rbCreateClientModel();
    while (rbStream_Next(stage.store, &late, &stage.message)) {
        rbClientModel_Take(model, rbMessage_GetBytes(&stage.message), stage.message.size,
                           stage.message.isText);
    }
    assert_true(model->poses[0].isKnown && model->poses[0].hasPose && !model->poses[1].isKnown);
    assert_memory_equal(&model->poses[0], &stage.client->poses[0], sizeof model->poses[0]);
    rbDestroyClientModel(model);
    rbStreamCursor_Free(&late);
    rbFrame frame;
    assert_true(rbStore_ReadFrame(stage.store, 7, &frame));
    assert_int_equal(frame.bodyCount, 2);
    assert_true(rbStore_ReadFrame(stage.store, 12, &frame));
    assert_true(isnan(frame.positions[0].x) && isfinite(frame.positions[1].x));
    closeStage(&stage);
}

// Joints are removed with their bodies.
static void linksGoWithTheirBodies(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "double-pendulum");
    (void)drain(&stage);
    int joints = rbWorld_GetJointCount(stage.world);
    int last = rbStore_GetBodyCount(stage.store) - 1;
    rbDestroyBody(stage.world, rbStore_GetBodyId(stage.store, last));
    rbStore_DeleteBody(stage.store, last);
    rbStore_TakeFrame(stage.store, stage.world);
    (void)drain(&stage);
    assert_non_null(stage.client->links);
    size_t left = json_array_size(json_object_get(stage.client->links, "joints"));
    assert_int_equal(left, rbWorld_GetJointCount(stage.world));
    assert_true((int)left < joints);
    closeStage(&stage);
}

// A full history drops every second frame, but never the first, the last and the one shown.
static void theHistoryIsBounded(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "tumbling-box");
    rbStore_SetHistory(stage.store, 0, 100);
    (void)drain(&stage);
    for (int i = 0; i < 50; ++i) {
        advance(&stage, 0.01, 50);
        assert_true(rbStore_GetFrameCount(stage.store) <= 101);
        assert_true(rbStore_GetFrameTime(stage.store, 0) == 0.0);
        assert_true(rbStore_GetEndTime(stage.store) == rbWorld_GetTime(stage.world));
        (void)drain(&stage);
    }
    for (int64_t i = 1; i < rbStore_GetFrameCount(stage.store); ++i) {
        assert_true(rbStore_GetFrameTime(stage.store, i) >
                    rbStore_GetFrameTime(stage.store, i - 1));
    }
    closeStage(&stage);
}

// Data read for a recording have the bits of the world, and go back into a store.
static void framesKeepTheirBits(void** state)
{
    (void)state;
    Stage stage;
    openScene(&stage, "tumbling-box");
    advance(&stage, 0.1, 3);
    rbFrame frame;
    assert_false(rbStore_ReadFrame(stage.store, 4, &frame));
    assert_true(rbStore_ReadFrame(stage.store, 3, &frame));
    rbBodyState body = rbBody_GetState(stage.world, rbStore_GetBodyId(stage.store, 0));
    assert_memory_equal(&frame.positions[0], &body.transform.p, sizeof(rbVec3));
    assert_memory_equal(&frame.orientations[0], &body.transform.q, sizeof(rbQuat));
    assert_memory_equal(&frame.angularVelocities[0], &body.angularVelocity, sizeof(rbVec3));
    rbVec3 position = frame.positions[0];
    frame.time += 1.0;
    rbStore_TakeRecordedFrame(stage.store, &frame);
    (void)drain(&stage);
    assert_true((float)position.x == (float)stage.client->poses[0].position[0]);
    checkNear(stage.client->time, 1.3, 1e-12);
    closeStage(&stage);
}

// Any orientation is restored to the last of its 20 bits.
static void orientationsSurviveTheWire(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(8);
    double worst = 0.0;
    for (int i = 0; i < rbTest_Count(20000, 2000000); ++i) {
        double q[4];
        double sum = 0.0;
        for (int k = 0; k < 4; ++k) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            q[k] = (double)(int64_t)seed / 9.3e18;
            q[k] = i % 5 == k ? 0.0 : q[k];
            sum += q[k] * q[k];
        }
        double scale = 1.0 / sqrt(sum);
        rbQuat in = {q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale};
        rbQuat out = rbUnpackQuat(rbPackQuat(in));
        double dot = in.w * out.w + in.x * out.x + in.y * out.y + in.z * out.z;
        double sign = dot < 0.0 ? -1.0 : 1.0;
        const double errors[4] = {sign * out.w - in.w, sign * out.x - in.x, sign * out.y - in.y,
                                  sign * out.z - in.z};
        for (int k = 0; k < 4; ++k) {
            worst = fabs(errors[k]) > worst ? fabs(errors[k]) : worst;
        }
    }
    print_message("largest error of a component %.3g\n", worst);
    checkBelow(worst, 2.1e-6); // 3 times half a step of sqrt2 / (2^20 - 1)
    rbQuat nothing = {NAN, 0.0, 0.0, 0.0};
    assert_true(rbPackQuat(nothing) == rbPackQuat(RB_QUAT_IDENTITY));
}

// Names and messages with quotes, control characters and letters of all kinds are valid JSON.
static void textsAreEscaped(void** state)
{
    (void)state;
    Stage stage;
    openText(&stage, "{\"rattleback\":1,\"title\":\"a \\\"quote\\\" \\\\ \\n \\u0001 \xc3\xa4\","
                     "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"shapes\":[{\"geometry\":{"
                     "\"type\":\"sphere\",\"radius\":1}}]}]}");
    rbPlayState play = {.speed = INFINITY};
    (void)snprintf(play.sentence, sizeof play.sentence, "tab\there \"quoted\"");
    rbStore_SetPlayState(stage.store, &play);
    rbStore_SetParameters(stage.store, "{\"type\":\"parameters\",\"world\":{}}");
    (void)drain(&stage);
    assert_string_equal(json_string_value(json_object_get(stage.client->scene, "title")),
                        "a \"quote\" \\ \n \x01 \xc3\xa4");
    assert_string_equal(json_string_value(json_object_get(stage.client->state, "sentence")),
                        "tab\there \"quoted\"");
    assert_true(json_is_null(json_object_get(stage.client->state, "speed")));
    assert_non_null(stage.client->parameters);
    closeStage(&stage);
}

RB_TEST_GROUP(test_store, cmocka_unit_test(aClientHasWhatTheWorldHas),
              cmocka_unit_test(samplesAreTheLedgerAndTheProbes),
              cmocka_unit_test(eventsArriveInOrder), cmocka_unit_test(contactsCarryTheWeight),
              cmocka_unit_test(raysAreSentToThoseWhoAsk),
              cmocka_unit_test(detailsFollowFromTheState),
              cmocka_unit_test(detailsAreTakenAtOnceWhileTimeStandsStill),
              cmocka_unit_test(jointsAreSentToThoseWhoAsk),
              cmocka_unit_test(meshesEncloseTheirVolume),
              cmocka_unit_test(aThousandBodiesTakeFewBytes), cmocka_unit_test(onlyWhatMovesIsSent),
              cmocka_unit_test(slowClientsMissFramesNotSamples),
              cmocka_unit_test(rewindingAndBranching), cmocka_unit_test(missedBranchesAreOne),
              cmocka_unit_test(bodiesComeAndGo), cmocka_unit_test(linksGoWithTheirBodies),
              cmocka_unit_test(theHistoryIsBounded), cmocka_unit_test(framesKeepTheirBits),
              cmocka_unit_test(orientationsSurviveTheWire), cmocka_unit_test(textsAreEscaped));
