// The container of a glTF 2.0 file: see gltf_file.h.
#include "io/scene/gltf_file.h"

#include "io/scene/byte_order.h"
#include "io/scene/file_bytes.h"

#include <stdio.h>
#include <string.h>

#define GLB_MAGIC 0x46546C67u
#define CHUNK_JSON 0x4E4F534Au
#define CHUNK_BINARY 0x004E4942u
#define SIZE_LIMIT 0x40000000 // of counts and offsets; keeps sums of two within 32 bits
#define BUFFERS_MAX 64

rbStatus rbGltf_GetSize(const rbGltf* gltf, const json_t* object, const char* key,
                        size_t defaultValue, size_t* value)
{
    RB_ASSERT(key != NULL);
    const json_t* number = json_object_get(object, key);
    *value = defaultValue;
    if (number == NULL) {
        return RB_STATUS_OK;
    }
    json_int_t integer = json_integer_value(number);
    if (!json_is_integer(number) || integer < 0 || integer > SIZE_LIMIT) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID,
                           "\"%s\" must be an integer from 0 to 2^30", key);
    }
    *value = (size_t)integer;
    return RB_STATUS_OK;
}

const json_t* rbGltf_GetElement(const rbGltf* gltf, const char* array, size_t index)
{
    const json_t* list = json_object_get(gltf->root, array);
    const json_t* element = json_array_get(list, index);
    if (!json_is_object(element)) {
        (void)rbError_Set(gltf->error, RB_STATUS_INVALID,
                          "element %zu of \"%s\" does not exist or is not an object; there are %zu",
                          index, array, json_array_size(list));
        return NULL;
    }
    return element;
}

// --------------------------------------------------------------------------------------- opening

// Chunks of a .glb: JSON first, then possibly the binary buffer.
static rbStatus splitBinary(rbGltf* gltf, const unsigned char* bytes, size_t size,
                            const unsigned char** text, size_t* textSize)
{
    size_t version = size >= 20 ? (size_t)rbGetUnsigned(bytes + 4, 4, false) : 0;
    size_t length = size >= 20 ? (size_t)rbGetUnsigned(bytes + 8, 4, false) : 0;
    if (version != 2 || length > size || length < 20) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID,
                           "is not a binary glTF 2.0, or cut off: version %zu, %zu bytes of %zu",
                           version, size, length);
    }
    size_t at = 12;
    for (int chunk = 0; at + 8 <= length; ++chunk) {
        size_t chunkSize = (size_t)rbGetUnsigned(bytes + at, 4, false);
        uint64_t type = rbGetUnsigned(bytes + at + 4, 4, false);
        at += 8;
        if (chunkSize > length - at) {
            return rbError_Set(gltf->error, RB_STATUS_INVALID, "chunk %d is longer than the file",
                               chunk);
        }
        if (chunk == 0 && type == CHUNK_JSON) {
            *text = bytes + at;
            *textSize = chunkSize;
        } else if (chunk == 1 && type == CHUNK_BINARY) {
            gltf->binary = bytes + at;
            gltf->binarySize = chunkSize;
        }
        at += chunkSize;
    }
    if (*text == NULL) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID, "the first chunk is not JSON");
    }
    return RB_STATUS_OK;
}

// Requires version 2 and no extension that is required but not supported.
static rbStatus validateAsset(const rbGltf* gltf)
{
    const json_t* asset = json_object_get(gltf->root, "asset");
    const char* version = json_string_value(json_object_get(asset, "version"));
    if (version == NULL || version[0] != '2' || version[1] != '.') {
        return rbError_Set(gltf->error, RB_STATUS_UNSUPPORTED,
                           "is glTF version \"%.10s\"; only version 2 is supported",
                           version != NULL ? version : "");
    }
    const json_t* required = json_object_get(gltf->root, "extensionsRequired");
    const char* extension = json_string_value(json_array_get(required, 0));
    if (json_array_size(required) > 0) {
        return rbError_Set(gltf->error, RB_STATUS_UNSUPPORTED,
                           "needs the extension \"%.60s\", which is unsupported; export without it",
                           extension != NULL ? extension : "");
    }
    return RB_STATUS_OK;
}

rbStatus rbGltf_Open(rbGltf* gltf, const rbMeshSource* source, rbError* error)
{
    RB_ASSERT(source->bytes != NULL);
    *gltf = (rbGltf){.source = source, .error = error};
    const unsigned char* text = source->bytes;
    size_t textSize = source->size;
    if (textSize >= 4 && rbGetUnsigned(text, 4, false) == GLB_MAGIC) {
        const unsigned char* bytes = text;
        text = NULL;
        rbStatus status = splitBinary(gltf, bytes, source->size, &text, &textSize);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    json_error_t jsonError;
    gltf->root = json_loadb((const char*)text, textSize, JSON_REJECT_DUPLICATES, &jsonError);
    if (!json_is_object(gltf->root)) {
        error->line = gltf->root == NULL && jsonError.line > 0 ? jsonError.line : 0;
        return rbError_Set(error, RB_STATUS_SYNTAX, "is not glTF: %.200s",
                           gltf->root == NULL ? jsonError.text : "it is not a JSON object");
    }
    rbStatus status = validateAsset(gltf);
    gltf->bufferCount = json_array_size(json_object_get(gltf->root, "buffers"));
    if (status == RB_STATUS_OK && gltf->bufferCount > BUFFERS_MAX) {
        status = rbError_Set(error, RB_STATUS_LIMIT, "%zu buffers; at most %d are accepted",
                             gltf->bufferCount, BUFFERS_MAX);
        gltf->bufferCount = 0;
    }
    gltf->buffers = rbAllocZero(gltf->bufferCount + 1, sizeof *gltf->buffers);
    return status;
}

void rbGltf_Close(rbGltf* gltf)
{
    for (size_t i = 0; gltf->buffers != NULL && i < gltf->bufferCount; ++i) {
        if (gltf->buffers[i].owned != NULL) {
            rbFree(gltf->buffers[i].owned, gltf->buffers[i].size);
        }
    }
    rbFree(gltf->buffers, (gltf->bufferCount + 1) * sizeof *gltf->buffers);
    gltf->buffers = NULL;
    json_decref(gltf->root);
    gltf->root = NULL;
}

// --------------------------------------------------------------------------------------- buffers

static int decodeDigit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static rbStatus decodeBase64(const rbGltf* gltf, const char* text, rbGltfBuffer* buffer)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '=') {
        length -= 1;
    }
    size_t size = length / 4 * 3 + (length % 4 > 1 ? length % 4 - 1 : 0);
    unsigned char* bytes = rbAlloc(size);
    uint32_t bits = 0;
    size_t used = 0;
    for (size_t i = 0; i < length; ++i) {
        int digit = decodeDigit(text[i]);
        if (digit < 0) {
            rbFree(bytes, size);
            return rbError_Set(gltf->error, RB_STATUS_INVALID, "a buffer is not valid base64");
        }
        bits = bits << 6 | (uint32_t)digit;
        // Every digit except the first of four completes a byte.
        if (i % 4 != 0) {
            RB_ASSERT(used < size);
            bytes[used++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
        }
    }
    RB_ASSERT(used == size);
    buffer->bytes = bytes;
    buffer->owned = bytes;
    buffer->size = size;
    return RB_STATUS_OK;
}

static int decodeHex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The name of a file next to the mesh: the folder of the mesh and the URI with %20 and the like
// decoded. Freed with rbFreeString.
static char* resolveUri(const rbGltf* gltf, const char* uri)
{
    const char* name = gltf->source->name;
    const char* slash = strrchr(name, '/');
    size_t folder = slash != NULL ? (size_t)(slash - name) + 1 : 0;
    size_t capacity = folder + strlen(uri) + 1;
    char* path = rbAlloc(capacity);
    memcpy(path, name, folder);
    size_t used = folder;
    for (const char* c = uri; *c != '\0'; ++c) {
        int high = *c == '%' ? decodeHex(c[1]) : -1;
        int low = high >= 0 ? decodeHex(c[2]) : -1;
        int code = low >= 0 ? 16 * high + low : 0;
        path[used++] = (char)(code != 0 ? code : *c);
        c += code != 0 ? 2 : 0;
    }
    path[used] = '\0';
    return rbGrow(path, capacity, used + 1);
}

static rbStatus openBuffer(rbGltf* gltf, size_t index)
{
    RB_ASSERT(index < gltf->bufferCount);
    RB_ASSERT(gltf->buffers[index].bytes == NULL);
    rbGltfBuffer* buffer = &gltf->buffers[index];
    const json_t* json = rbGltf_GetElement(gltf, "buffers", index);
    if (json == NULL) {
        return RB_STATUS_INVALID;
    }
    const json_t* uriJson = json_object_get(json, "uri");
    const char* uri = json_string_value(uriJson);
    if (uriJson == NULL) {
        if (index != 0 || gltf->binary == NULL) {
            return rbError_Set(gltf->error, RB_STATUS_INVALID, "buffer %zu has no bytes", index);
        }
        buffer->bytes = gltf->binary;
        buffer->size = gltf->binarySize;
        return RB_STATUS_OK;
    }
    if (uri == NULL) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID, "the uri of buffer %zu is not a string",
                           index);
    }
    if (strncmp(uri, "data:", 5) == 0) {
        const char* comma = strstr(uri, ";base64,");
        return comma != NULL ? decodeBase64(gltf, comma + 8, buffer)
                             : rbError_Set(gltf->error, RB_STATUS_UNSUPPORTED,
                                           "buffer %zu is inline data, but not base64", index);
    }
    if (gltf->source->fileFn == NULL) {
        return rbError_Set(gltf->error, RB_STATUS_NOT_FOUND,
                           "refers to the file \"%.100s\", which does not exist", uri);
    }
    char* name = resolveUri(gltf, uri);
    const void* bytes = NULL;
    rbError inner = {0};
    rbStatus status =
        gltf->source->fileFn(name, &bytes, &buffer->size, gltf->source->context, &inner);
    if (status != RB_STATUS_OK) {
        (void)rbError_Set(gltf->error, status, "buffer file \"%.150s\": %.250s", name,
                          inner.message);
    } else if (bytes == NULL) {
        status =
            rbError_Set(gltf->error, RB_STATUS_INVALID, "buffer file \"%.150s\" is empty", name);
    }
    buffer->bytes = bytes;
    rbFreeString(name);
    return status;
}

// -------------------------------------------------------------------------------------- accessors

// The part of a buffer that a buffer view refers to.
static rbStatus getBufferView(rbGltf* gltf, size_t index, const unsigned char** bytes, size_t* size,
                              size_t* stride)
{
    const json_t* json = rbGltf_GetElement(gltf, "bufferViews", index);
    if (json == NULL) {
        return RB_STATUS_INVALID;
    }
    size_t buffer = 0;
    size_t offset = 0;
    if (rbGltf_GetSize(gltf, json, "buffer", SIZE_LIMIT, &buffer) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "byteOffset", 0, &offset) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "byteLength", 0, size) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "byteStride", 0, stride) != RB_STATUS_OK) {
        return RB_STATUS_INVALID;
    }
    if (buffer >= gltf->bufferCount) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID,
                           "buffer view %zu refers to a buffer that does not exist", index);
    }
    if (gltf->buffers[buffer].bytes == NULL) {
        rbStatus status = openBuffer(gltf, buffer);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    if (gltf->buffers[buffer].size == 0) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID, "buffer %zu is empty", buffer);
    }
    if (offset + *size > gltf->buffers[buffer].size) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID,
                           "buffer view %zu ends at byte %zu of a buffer of %zu bytes", index,
                           offset + *size, gltf->buffers[buffer].size);
    }
    *bytes = gltf->buffers[buffer].bytes + offset;
    return RB_STATUS_OK;
}

static int getComponentSize(size_t componentType)
{
    return componentType == RB_GLTF_UNSIGNED_BYTE                                    ? 1
           : componentType == RB_GLTF_UNSIGNED_SHORT                                 ? 2
           : componentType == RB_GLTF_UNSIGNED_INT || componentType == RB_GLTF_FLOAT ? 4
                                                                                     : 0;
}

rbStatus rbGltf_GetView(rbGltf* gltf, size_t accessor, const char* type, rbGltfView* view)
{
    RB_ASSERT(gltf->root != NULL);
    const json_t* json = rbGltf_GetElement(gltf, "accessors", accessor);
    if (json == NULL) {
        return RB_STATUS_INVALID;
    }
    size_t bufferView = 0;
    size_t offset = 0;
    size_t componentType = 0;
    if (rbGltf_GetSize(gltf, json, "bufferView", SIZE_LIMIT, &bufferView) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "byteOffset", 0, &offset) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "count", 0, &view->count) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "componentType", 0, &componentType) != RB_STATUS_OK) {
        return RB_STATUS_INVALID;
    }
    const char* word = json_string_value(json_object_get(json, "type"));
    int componentSize = getComponentSize(componentType);
    if (word == NULL || strcmp(word, type) != 0 || componentSize == 0) {
        return rbError_Set(gltf->error, RB_STATUS_UNSUPPORTED,
                           "accessor %zu holds %.20s of component type %zu; %s is needed", accessor,
                           word != NULL ? word : "nothing", componentType, type);
    }
    if (bufferView == SIZE_LIMIT || json_object_get(json, "sparse") != NULL) {
        return rbError_Set(gltf->error, RB_STATUS_UNSUPPORTED,
                           "accessor %zu is sparse, which is not supported", accessor);
    }
    size_t size = 0;
    rbStatus status = getBufferView(gltf, bufferView, &view->bytes, &size, &view->stride);
    if (status != RB_STATUS_OK) {
        return status;
    }
    size_t elementSize = (size_t)componentSize * (strcmp(type, "VEC3") == 0 ? 3 : 1);
    view->stride = view->stride != 0 ? view->stride : elementSize;
    if (view->count > RB_MESH_ELEMENTS_MAX || view->stride < elementSize ||
        view->stride > 1 << 16 ||
        (view->count > 0 &&
         offset + (uint64_t)(view->count - 1) * view->stride + elementSize > size)) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID,
                           "accessor %zu of %zu elements does not fit into its buffer view of %zu "
                           "bytes",
                           accessor, view->count, size);
    }
    view->bytes += offset;
    view->componentType = (int)componentType;
    view->componentSize = componentSize;
    return RB_STATUS_OK;
}
