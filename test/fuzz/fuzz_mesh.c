// Any bytes as a mesh file. The first byte chooses the format and the treatment of the faces.
#include <rattleback/scene.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const names[] = {"a.obj", "a.stl", "a.ply", "a.gltf", "a.glb"};
    if (size == 0) {
        return 0;
    }
    rbError error = {0};
    rbMeshOptions options = rbDefaultMeshOptions();
    options.use = (rbMeshUse)(data[0] / 8 % RB_MESH_USE_COUNT);
    options.up = data[0] & 128 ? 'y' : 'z';
    const char* name = names[data[0] % 8 % 5];
    rbGeometry* geometry = rbReadMeshMemory(name, data + 1, size - 1, &options, &error);
    if (geometry == NULL && (error.status == RB_STATUS_OK || error.message[0] == '\0')) {
        abort(); // every error has a message
    }
    rbMassProperties mass;
    if (geometry != NULL && rbGeometry_IsSolid(geometry)) {
        (void)rbGeometry_GetMass(geometry, 1000.0, &mass, &error);
    }
    rbDestroyGeometry(geometry);
    rbMeshData* meshData = rbReadMeshDataMemory(name, data + 1, size - 1, NULL, NULL);
    if (meshData != NULL) {
        (void)rbValidateMesh(rbMeshData_GetDef(meshData), NULL, 0);
    }
    rbDestroyMeshData(meshData);
    return 0;
}
