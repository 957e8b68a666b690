// The live viewer of a world of Python: what clients see is in a store (app/session/store.h), which
// the thread of the world writes and the threads of the server read. build_module.py reads the
// declarations.
#pragma once

#include <rattleback/rattleback.h>
#include <rattleback/scene.h>

typedef struct rbpyViewer rbpyViewer;
typedef struct rbpyClient rbpyClient;

rbpyViewer* rbpyOpenViewer(rbScene* scene, rbWorld* world, rbError* error);
void rbpyCloseViewer(rbpyViewer* viewer);
rbStatus rbpyViewer_Take(rbpyViewer* viewer, rbWorld* world, rbError* error);
void rbpyViewer_Tell(rbpyViewer* viewer, bool isPlaying, double speed, double realTimeFactor);
int rbpyViewer_FindBody(rbpyViewer* viewer, const char* name);

rbpyClient* rbpyAddClient(int number);
void rbpyRemoveClient(rbpyClient* client);
int rbpyClient_Next(rbpyClient* client, rbpyViewer* viewer, double now);
unsigned char* rbpyClient_GetBytes(rbpyClient* client, size_t* size);
void rbpyClient_Select(rbpyClient* client, int body);
void rbpyClient_SetOverlays(rbpyClient* client, bool contacts, bool joints, bool rays);
const unsigned char* rbpyGetPage(size_t* size);
