// Prescribed paths of kinematic bodies.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <string.h>

static rbStatus readLine(rbReader* reader, const json_t* json, const rbPathFields* fields,
                         rbSceneBody* body)
{
    RB_ASSERT(json_is_object(json));
    RB_ASSERT(body->path.points == NULL);
    bool hasEnd = json_object_get(json, "end") != NULL;
    bool hasDirection = json_object_get(json, "direction") != NULL;
    if (hasEnd == hasDirection) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a line needs either \"end\", its last point, or \"direction\"");
    }
    body->path.direction = fields->direction;
    if (hasDirection) {
        if (rbLength(fields->direction) < RB_LENGTH_MIN) {
            rbReader_Push(reader, "direction");
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "the direction is zero; give any other vector, or the path type "
                                 "\"rotation\" for a stationary body");
        }
        return RB_STATUS_OK;
    }
    if (rbDistance(fields->end, body->position) < RB_LENGTH_MIN) {
        rbReader_Push(reader, "end");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the path has no length: it ends at the position of the body; give "
                             "another end, or the path type \"rotation\" for a stationary body");
    }
    rbVec3* points = rbAlloc(sizeof *points);
    points[0] = fields->end;
    body->path.points = points;
    body->path.pointCount = 1;
    return RB_STATUS_OK;
}

// Neighboring points must differ; the first is the position of the body. So must the last and the
// first of a closed curve.
static rbStatus validatePoints(rbReader* reader, const rbSceneBody* body)
{
    RB_ASSERT(body->path.pointCount > 0);
    rbVec3 former = body->position;
    for (int i = 0; i < body->path.pointCount; ++i) {
        if (rbDistance(former, body->path.points[i]) < RB_LENGTH_MIN) {
            rbReader_PushIndex(reader, (size_t)i);
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "a segment of the path has no length: the point equals the "
                                 "previous one%s; remove it",
                                 i == 0 ? ", which is the position of the body" : "");
        }
        former = body->path.points[i];
    }
    if (body->path.isClosed && rbDistance(former, body->position) < RB_LENGTH_MIN) {
        rbReader_PushIndex(reader, (size_t)body->path.pointCount - 1);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the last point of a closed curve is the position of the body; remove "
                             "it");
    }
    return RB_STATUS_OK;
}

static rbStatus readCurve(rbReader* reader, const rbPathFields* fields, rbSceneBody* body)
{
    RB_ASSERT(json_is_array(fields->points));
    RB_ASSERT(body->path.points == NULL);
    size_t count = json_array_size(fields->points);
    size_t least = fields->isClosed ? 2 : 1;
    rbReader_Push(reader, "points");
    if (count < least || count > RB_PATH_POINTS_MAX) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "%zu points after the position of the body; %s curve needs %zu to %d",
                             count, fields->isClosed ? "a closed" : "a", least, RB_PATH_POINTS_MAX);
    }
    rbVec3* points = rbAlloc(count * sizeof *points);
    body->path.points = points;
    body->path.pointCount = (int)count;
    for (size_t i = 0; i < count; ++i) {
        double v[3];
        rbReader_PushIndex(reader, i);
        rbStatus status =
            rbReadNumbers(reader, json_array_get(fields->points, i), v, 3, RB_SCENE_LENGTH_MAX);
        if (status != RB_STATUS_OK) {
            return status;
        }
        points[i] = (rbVec3){v[0], v[1], v[2]};
        rbReader_Pop(reader);
    }
    body->path.startTangent = fields->startTangent;
    body->path.endTangent = fields->endTangent;
    body->path.tangentFactor = fields->tangentFactor;
    body->path.isClosed = fields->isClosed;
    rbStatus status = validatePoints(reader, body);
    if (status == RB_STATUS_OK) {
        rbReader_Pop(reader);
    }
    return status;
}

static const rbObjectKind* findPathKind(rbReader* reader, const json_t* json)
{
    const json_t* type = json_object_get(json, "type");
    const char* word = json_is_string(type) ? json_string_value(type) : "";
    if (strcmp(word, "line") == 0) {
        return &rbPathLineKeys;
    }
    if (strcmp(word, "curve") == 0) {
        return &rbPathCurveKeys;
    }
    if (strcmp(word, "rotation") == 0) {
        return &rbPathRotationKeys;
    }
    rbReader_Push(reader, "type");
    (void)rbReader_Fail(reader, RB_STATUS_INVALID,
                        "unknown path type \"%.60s\"; expected \"line\", \"curve\" or "
                        "\"rotation\"",
                        word);
    return NULL;
}

rbStatus rbReadPath(rbReader* reader, const json_t* json, rbSceneBody* body)
{
    RB_ASSERT(body->type == RB_BODY_KINEMATIC);
    const rbObjectKind* kind = findPathKind(reader, json);
    if (kind == NULL) {
        return RB_STATUS_INVALID;
    }
    body->path = rbDefaultPathDef();
    rbPathFields fields = {.tangentFactor = body->path.tangentFactor};
    rbStatus status = rbReadFields(reader, json, kind, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    body->hasPath = true;
    body->path.speed = fields.speed;
    body->path.angularVelocity = fields.spin;
    body->path.startTime = fields.startTime;
    if (kind == &rbPathCurveKeys) {
        body->path.type = RB_PATH_CURVE;
        return readCurve(reader, &fields, body);
    }
    body->path.type = RB_PATH_LINE;
    if (kind == &rbPathLineKeys) {
        return readLine(reader, json, &fields, body);
    }
    // A body that only rotates follows a line at zero speed.
    body->path.direction = (rbVec3){1.0, 0.0, 0.0};
    return RB_STATUS_OK;
}
