// See foreign_format.h. A scene is a JSON object, so no scene begins like one of these.
#include "io/scene/foreign_format.h"

#include <string.h>

#define SCENE_HINT "a scene is a JSON object, see docs/scene-format.md"
#define MESH_HINT \
    "a shape of a scene refers to it by \"geometry\": {\"type\": \"mesh\", \"file\": ...}"
#define MODEL_HINT "write its bodies and joints as a scene in JSON, see docs/scene-format.md"
#define CAD_HINT "export its bodies as meshes (STL, OBJ, PLY or glTF) and refer to these in a scene"
#define RECORDING_HINT "'rattleback replay' runs it again and 'rattleback view' shows it"

#define CHECKPOINT_HINT "'rattleback run --resume' continues it"

typedef struct Format {
    const char* start; // first bytes after whitespace
    size_t length;
    const char* inside; // must occur in the first bytes; NULL: nothing
    const char* name;
    const char* remedy;
} Format;

#define STARTS(text) (text), sizeof(text) - 1

// The first row that matches is used.
static const Format formats[] = {
    {STARTS("\x89RBR\r\n\x1a\n"), NULL, "a recording of a run", RECORDING_HINT},
    {STARTS("\x89RBK\r\n\x1a\n"), NULL, "a checkpoint of a run", CHECKPOINT_HINT},
    {STARTS("<"), "<mujoco", "a MuJoCo model (MJCF, XML)", MODEL_HINT},
    {STARTS("<"), "<robot", "a robot description (URDF, XML)", MODEL_HINT},
    {STARTS("<"), "<sdf", "a simulation description (SDF, XML)", MODEL_HINT},
    {STARTS("<"), "<COLLADA", "a COLLADA model (XML)", CAD_HINT},
    {STARTS("<"), "<html", "a page (HTML)", SCENE_HINT},
    {STARTS("<"), NULL, "an XML file", MODEL_HINT},
    {STARTS("ISO-10303-21"), NULL, "a STEP file", CAD_HINT},
    {STARTS("#usda"), NULL, "a USD file", CAD_HINT},
    {STARTS("PXR-USDC"), NULL, "a USD file", CAD_HINT},
    {STARTS("ply\n"), NULL, "a mesh (PLY)", MESH_HINT},
    {STARTS("ply\r"), NULL, "a mesh (PLY)", MESH_HINT},
    {STARTS("glTF"), NULL, "a mesh (glTF)", MESH_HINT},
    {STARTS("solid"), NULL, "a mesh (STL)", MESH_HINT},
    {STARTS("v "), NULL, "a mesh (OBJ)", MESH_HINT},
    {STARTS("o "), "\nv ", "a mesh (OBJ)", MESH_HINT},
    {STARTS("#"), "\nv ", "a mesh (OBJ)", MESH_HINT},
    {STARTS("PK\x03\x04"), NULL, "a ZIP archive", "unpack it first"},
    {STARTS("\x1f\x8b"), NULL, "compressed by gzip", "unpack it first"},
    {STARTS("---\n"), NULL, "a YAML file", SCENE_HINT},
};

// What distinguishes the kinds of XML is near the start.
#define BYTES_SEARCHED 4096

static bool contains(const char* bytes, size_t size, const char* text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; ++i) {
        if (memcmp(bytes + i, text, length) == 0) {
            return true;
        }
    }
    return false;
}

static size_t skipSpace(const char* bytes, size_t size)
{
    static const char mark[] = "\xEF\xBB\xBF"; // some editors begin a file with it
    size_t at = size >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
    while (at < size &&
           (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r' || bytes[at] == '\n')) {
        ++at;
    }
    return at;
}

bool rbIsForeignFormat(const char* bytes, size_t size, rbError* error)
{
    size_t at = skipSpace(bytes, size);
    const char* start = bytes + at;
    size_t left = size - at;
    size_t searched = left < BYTES_SEARCHED ? left : BYTES_SEARCHED;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
        const Format* format = &formats[i];
        if (left >= format->length && memcmp(start, format->start, format->length) == 0 &&
            (format->inside == NULL || contains(start, searched, format->inside))) {
            (void)rbError_Set(error, RB_STATUS_UNSUPPORTED, "is %s, not a scene: %s", format->name,
                              format->remedy);
            return true;
        }
    }
    return false;
}
