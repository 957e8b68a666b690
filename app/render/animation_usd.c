// USD as text. Each geometry is a class of the file; a shape of a body inherits from it and binds a
// material. A time code is a frame of the animation at its rate; poses are samples at their codes.
#include "io/output/output_file.h"
#include "render/animation.h"

#include <rattleback/output.h>

#include <ctype.h>
#include <string.h>

#define NAME_MAX_LENGTH 40

typedef struct Usd {
    rbAnimation* animation;
    rbOutputFile* file;
} Usd;

static void putNumber(const Usd* usd, double value)
{
    char text[RB_NUMBER_TEXT_SIZE];
    (void)rbFormatNumber(value, text);
    rbOutputFile_Text(usd->file, text);
}

static void putTuple(const Usd* usd, const double* values, int count)
{
    rbOutputFile_Text(usd->file, "(");
    for (int i = 0; i < count; ++i) {
        rbOutputFile_Text(usd->file, i > 0 ? ", " : "");
        putNumber(usd, values[i]);
    }
    rbOutputFile_Text(usd->file, ")");
}

static void putVector(const Usd* usd, rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    putTuple(usd, values, 3);
}

static void putRotation(const Usd* usd, rbQuat q)
{
    const double values[4] = {q.w, q.x, q.y, q.z};
    putTuple(usd, values, 4);
}

// A name has letters, digits and underscores only; its number makes it unique.
static void putName(const Usd* usd, const char* kind, int number, const char* name)
{
    char text[NAME_MAX_LENGTH + 1];
    size_t length = 0;
    for (; name[length] != '\0' && length < NAME_MAX_LENGTH; ++length) {
        text[length] = (char)(isalnum((unsigned char)name[length]) ? name[length] : '_');
    }
    text[length] = '\0';
    rbOutputFile_Print(usd->file, "%s%d%s%s", kind, number, length > 0 ? "_" : "", text);
}

// A text between quotes: what could end it is left out.
static void putText(const Usd* usd, const char* text)
{
    char part[2] = {0};
    rbOutputFile_Text(usd->file, "\"");
    for (; *text != '\0'; ++text) {
        part[0] = *text;
        bool isPlain = (unsigned char)*text >= ' ' && *text != '"' && *text != '\\';
        rbOutputFile_Text(usd->file, isPlain ? part : " ");
    }
    rbOutputFile_Text(usd->file, "\"");
}

static double getCode(const rbAnimation* animation, int frame)
{
    return animation->times.data[frame] * animation->rate;
}

static void putHead(const Usd* usd)
{
    const rbAnimation* animation = usd->animation;
    rbOutputFile_Text(usd->file, "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = ");
    putText(usd, animation->title);
    rbOutputFile_Text(usd->file, "\n    metersPerUnit = 1\n    upAxis = \"Z\"\n");
    rbOutputFile_Print(usd->file, "    timeCodesPerSecond = %d\n    framesPerSecond = %d\n",
                       animation->rate, animation->rate);
    rbOutputFile_Text(usd->file, "    startTimeCode = ");
    putNumber(usd, getCode(animation, 0));
    rbOutputFile_Text(usd->file, "\n    endTimeCode = ");
    putNumber(usd, getCode(animation, animation->times.count - 1));
    rbOutputFile_Text(usd->file, "\n)\n\n");
}

// ------------------------------------------------------------------------------------- geometry

static void putPoints(const Usd* usd, const rbVec3* points, int count)
{
    rbOutputFile_Text(usd->file, "    point3f[] points = [");
    for (int i = 0; i < count; ++i) {
        rbOutputFile_Text(usd->file, i > 0 ? ", " : "");
        putVector(usd, points[i]);
    }
    rbOutputFile_Text(usd->file, "]\n");
}

static void putCounts(const Usd* usd, int size, int count)
{
    rbOutputFile_Text(usd->file, "    int[] faceVertexCounts = [");
    for (int i = 0; i < count; ++i) {
        rbOutputFile_Print(usd->file, i > 0 ? ", %d" : "%d", size);
    }
    rbOutputFile_Text(usd->file, "]\n");
}

// Triangles with the second tone; false: there are none.
static bool putSubset(const Usd* usd, int geometry, int triangleCount)
{
    bool isAny = false;
    for (int i = 0; i < triangleCount; ++i) {
        if (rbAnimation_IsMarked(usd->animation, geometry, i)) {
            rbOutputFile_Text(usd->file,
                              isAny ? ""
                                    : "    def GeomSubset \"marks\"\n    {\n"
                                      "        uniform token elementType = \"face\"\n"
                                      "        uniform token familyName = \"materialBind\"\n"
                                      "        int[] indices = [");
            rbOutputFile_Print(usd->file, isAny ? ", %d" : "%d", i);
            isAny = true;
        }
    }
    rbOutputFile_Text(usd->file, isAny ? "]\n    }\n" : "");
    return isAny;
}

static void putGeometry(const Usd* usd, int geometry)
{
    const rbSurface* surface = rbAnimation_GetSurface(usd->animation, geometry);
    const rbTriangles* t = &surface->triangles;
    rbOutputFile_Print(usd->file, "class Mesh \"G%d\"\n{\n", geometry);
    rbOutputFile_Text(usd->file, "    uniform token subdivisionScheme = \"none\"\n");
    if (!usd->animation->model.geometries.data[geometry].isSolid) {
        rbOutputFile_Text(usd->file, "    uniform bool doubleSided = 1\n");
    }
    putCounts(usd, 3, t->triangleCount);
    rbOutputFile_Text(usd->file, "    int[] faceVertexIndices = [");
    for (int i = 0; i < 3 * t->triangleCount; ++i) {
        rbOutputFile_Print(usd->file, i > 0 ? ", %d" : "%d", t->triangles[i / 3][i % 3]);
    }
    rbOutputFile_Text(usd->file, "]\n");
    putPoints(usd, t->vertices, t->vertexCount);
    rbOutputFile_Text(usd->file, "    normal3f[] normals = [");
    for (int i = 0; i < 3 * t->triangleCount; ++i) {
        rbFloat3 n = surface->normals[i / 3][i % 3];
        rbOutputFile_Text(usd->file, i > 0 ? ", " : "");
        putVector(usd, rbMakeVec3(n.x, n.y, n.z));
    }
    rbOutputFile_Text(usd->file, "] (\n        interpolation = \"faceVarying\"\n    )\n");
    (void)putSubset(usd, geometry, t->triangleCount);
    rbOutputFile_Text(usd->file, "}\n\n");
}

static void putMaterial(const Usd* usd, int index)
{
    const rbFinish* finish = &usd->animation->finishes.data[index];
    rbFloat3 color = rbLinearColor(finish->color);
    const double values[3] = {color.x, color.y, color.z};
    rbOutputFile_Print(usd->file,
                       "        def Material \"M%d\"\n        {\n"
                       "            token outputs:surface.connect = "
                       "</World/Materials/M%d/Shader.outputs:surface>\n"
                       "            def Shader \"Shader\"\n            {\n"
                       "                uniform token info:id = \"UsdPreviewSurface\"\n"
                       "                color3f inputs:diffuseColor = ",
                       index, index);
    putTuple(usd, values, 3);
    rbOutputFile_Text(usd->file, "\n                float inputs:opacity = ");
    putNumber(usd, finish->opacity);
    rbOutputFile_Text(usd->file, "\n                float inputs:roughness = ");
    putNumber(usd, finish->roughness);
    rbOutputFile_Text(usd->file, "\n                token outputs:surface\n            }\n"
                                 "        }\n");
}

// ---------------------------------------------------------------------------------------- bodies

static void putSamples(const Usd* usd, int body, const char* what)
{
    const rbAnimation* animation = usd->animation;
    bool isRotation = strcmp(what, "orient") == 0;
    bool isMoving = rbAnimation_Moves(animation, body);
    rbOutputFile_Print(usd->file, "        %s xformOp:%s%s = ", isRotation ? "quatf" : "double3",
                       what, isMoving ? ".timeSamples" : "");
    int count = isMoving ? animation->times.count : 1;
    rbQuat last = rbAnimation_GetPose(animation, body, 0).q;
    for (int i = 0; i < count; ++i) {
        rbTransform pose = rbAnimation_GetPose(animation, body, i);
        double side = pose.q.w * last.w + pose.q.x * last.x + pose.q.y * last.y + pose.q.z * last.z;
        double sign = side < 0.0 ? -1.0 : 1.0;
        last = (rbQuat){sign * pose.q.w, sign * pose.q.x, sign * pose.q.y, sign * pose.q.z};
        rbOutputFile_Text(usd->file,
                          isMoving ? (i > 0 ? ",\n            " : "{\n            ") : "");
        if (isMoving) {
            putNumber(usd, getCode(animation, i));
            rbOutputFile_Text(usd->file, ": ");
        }
        if (isRotation) {
            putRotation(usd, last);
        } else {
            putVector(usd, pose.p);
        }
    }
    rbOutputFile_Text(usd->file, isMoving ? "\n        }\n" : "\n");
}

static void putPresence(const Usd* usd, int body)
{
    const rbAnimation* animation = usd->animation;
    rbOutputFile_Text(usd->file, "        token visibility.timeSamples = {");
    for (int i = 0; i < animation->times.count; ++i) {
        rbOutputFile_Text(usd->file, i > 0 ? ", " : "");
        putNumber(usd, getCode(animation, i));
        bool isThere = rbAnimation_Exists(animation, body, i);
        rbOutputFile_Text(usd->file, isThere ? ": \"inherited\"" : ": \"invisible\"");
    }
    rbOutputFile_Text(usd->file, "}\n");
}

static void putBinding(const Usd* usd, int depth, int finish)
{
    rbOutputFile_Print(usd->file, "%*srel material:binding = </World/Materials/M%d>\n", depth, "",
                       finish);
}

static const char bindingApi[] = "prepend apiSchemas = [\"MaterialBindingAPI\"]";

static void putShape(const Usd* usd, int index)
{
    rbAnimation* animation = usd->animation;
    const rbShownShape* shape = &animation->model.shapes.data[index];
    int finish = animation->finishOf[shape->paint];
    rbOutputFile_Print(usd->file,
                       "        def Mesh \"S%d\" (\n            inherits = </G%d>\n            "
                       "%s\n        )\n        {\n",
                       index, shape->geometry, bindingApi);
    putBinding(usd, 12, finish);
    rbOutputFile_Text(usd->file, "            double3 xformOp:translate = ");
    putVector(usd, shape->transform.p);
    rbOutputFile_Text(usd->file, "\n            quatf xformOp:orient = ");
    putRotation(usd, shape->transform.q);
    rbOutputFile_Text(usd->file, "\n            uniform token[] xformOpOrder = "
                                 "[\"xformOp:translate\", \"xformOp:orient\"]\n");
    if (animation->model.geometries.data[shape->geometry].marking != RB_MARKING_NONE) {
        rbOutputFile_Print(usd->file,
                           "            over \"marks\" (\n                %s\n"
                           "            )\n            {\n",
                           bindingApi);
        putBinding(usd, 16, rbAnimation_GetMarkFinish(animation, finish));
        rbOutputFile_Text(usd->file, "            }\n");
    }
    rbOutputFile_Text(usd->file, "        }\n");
}

static void putPlane(const Usd* usd, int index)
{
    rbVec3 corners[4];
    rbAnimation_GetSquare(usd->animation, index, corners);
    rbOutputFile_Print(usd->file,
                       "        def Mesh \"P%d\" (\n            %s\n        )\n        {\n", index,
                       bindingApi);
    putBinding(usd, 12, usd->animation->finishOf[usd->animation->model.planes.data[index].body]);
    rbOutputFile_Text(usd->file, "    uniform token subdivisionScheme = \"none\"\n");
    putCounts(usd, 4, 1);
    rbOutputFile_Text(usd->file, "    int[] faceVertexIndices = [0, 1, 2, 3]\n");
    putPoints(usd, corners, 4);
    rbOutputFile_Text(usd->file, "        }\n");
}

// The shapes of a body are next to each other in the model.
static void putBody(const Usd* usd, int body, int* shape, int* plane)
{
    const rbAnimation* animation = usd->animation;
    rbOutputFile_Text(usd->file, "    def Xform \"");
    putName(usd, "B", body, animation->names[body]);
    rbOutputFile_Text(usd->file, "\"\n    {\n");
    putSamples(usd, body, "translate");
    putSamples(usd, body, "orient");
    rbOutputFile_Text(usd->file, "        uniform token[] xformOpOrder = "
                                 "[\"xformOp:translate\", \"xformOp:orient\"]\n");
    if (!rbAnimation_IsAlways(animation, body)) {
        putPresence(usd, body);
    }
    while (*shape < animation->model.shapes.count &&
           animation->model.shapes.data[*shape].body == body) {
        putShape(usd, (*shape)++);
    }
    while (*plane < animation->model.planes.count &&
           animation->model.planes.data[*plane].body == body) {
        putPlane(usd, (*plane)++);
    }
    rbOutputFile_Text(usd->file, "    }\n");
}

static void putAll(const Usd* usd)
{
    rbAnimation* animation = usd->animation;
    putHead(usd);
    for (int i = 0; i < animation->model.geometries.count; ++i) {
        if (i != animation->model.ball) { // marks of joints are not exported
            putGeometry(usd, i);
        }
    }
    rbOutputFile_Text(usd->file, "def Xform \"World\"\n{\n");
    int shape = 0;
    int plane = 0;
    for (int i = 0; i < animation->model.bodyCount; ++i) {
        putBody(usd, i, &shape, &plane);
    }
    RB_ASSERT(shape == animation->model.shapes.count && plane == animation->model.planes.count);
    rbOutputFile_Text(usd->file, "    def Scope \"Materials\"\n    {\n");
    for (int i = 0; i < animation->finishes.count; ++i) {
        putMaterial(usd, i);
    }
    rbOutputFile_Text(usd->file, "    }\n}\n");
}

rbStatus rbAnimation_WriteUsd(rbAnimation* animation, const char* path, rbError* error)
{
    RB_ASSERT(animation->times.count > 0);
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        Usd usd = {animation, file};
        putAll(&usd);
        status = rbOutputFile_Commit(file, error);
    }
    rbFree(file, sizeof *file);
    return status;
}
