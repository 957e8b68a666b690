// The engine as one WebAssembly module: what its host (a Web Worker, Node) calls. The host is
// app/browser/engine.js; it owns nothing in here but what rbEngine_Alloc gave it.
//
// Two ways to use a scene:
//   a world     advanced by the caller, which reads its state as arrays (the npm package)
//   a session   advanced by its own pace and controlled by the commands of docs/viewer-protocol.md;
//               its messages are those that the server of the viewer sends (the pages)
//
// The module reads no disk. Files that a scene names are put in before (rbEngine_PutFile). A scene
// that needs another one is not opened, and rbEngine_GetMissingFile names the file: the host puts
// it in and tries again. Texts of the host are UTF-8 with a size; a name is terminated.
#pragma once

#include <rattleback/world.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Visible to the host of the module.
#define RB_ENGINE_API __attribute__((used, visibility("default")))

// Registers the laboratory. Once, before anything else; false: see rbEngine_GetError.
RB_ENGINE_API bool rbEngine_Start(void);
RB_ENGINE_API const char* rbEngine_GetVersion(void);

RB_ENGINE_API void* rbEngine_Alloc(size_t size);
RB_ENGINE_API void rbEngine_Free(void* memory, size_t size);

// JSON about the last call that failed: {"status": .., "line": .., "column": .., "place": ..,
// "text": ..}.
RB_ENGINE_API const char* rbEngine_GetError(void);

// Files of scenes, by the names that scenes use. The bytes are from rbEngine_Alloc and taken over.
RB_ENGINE_API void rbEngine_PutFile(const char* name, void* bytes, size_t size);
RB_ENGINE_API void rbEngine_DropFiles(void);
// The file that the last scene lacked; "" if it lacked none.
RB_ENGINE_API const char* rbEngine_GetMissingFile(void);

// ------------------------------------------------------------------------------------------ worlds

typedef struct rbEngineWorld rbEngineWorld;

// name: of the scene in messages. NULL: see rbEngine_GetError.
RB_ENGINE_API rbEngineWorld* rbEngine_OpenWorld(const char* text, size_t size, const char* name);
RB_ENGINE_API void rbEngine_CloseWorld(rbEngineWorld* world); // NULL is fine
// What the scene is: JSON with name, title, engine, duration, outputStep, bodies (their names).
RB_ENGINE_API const char* rbEngine_GetInfo(rbEngineWorld* world);
// Advances to a time (s); an rbStatus. rbEngine_GetError has the reason if it is not 0.
RB_ENGINE_API int rbEngine_AdvanceTo(rbEngineWorld* world, double time);
// Advances by the output steps of the scene to its end, as `rattleback run` does.
RB_ENGINE_API int rbEngine_Run(rbEngineWorld* world);
RB_ENGINE_API double rbEngine_GetTime(const rbEngineWorld* world);
// 16 hexadecimal digits; the same as `rattleback run` prints for the same state.
RB_ENGINE_API const char* rbEngine_GetHash(rbEngineWorld* world);
RB_ENGINE_API int rbEngine_GetBodyCount(const rbEngineWorld* world);
// A field (rbBodyField) of all bodies, packed. Valid until the next call that takes the world.
RB_ENGINE_API const double* rbEngine_ReadField(rbEngineWorld* world, int field);
RB_ENGINE_API int rbEngine_GetFieldWidth(int field);
// values: width * bodyCount doubles. False: the field is read only, or a value is not finite.
RB_ENGINE_API bool rbEngine_WriteField(rbEngineWorld* world, int field, const double* values);
// Energies and momenta as JSON, with the names of rbLedger.
RB_ENGINE_API const char* rbEngine_GetLedger(rbEngineWorld* world);

// ---------------------------------------------------------------------------------------- sessions

typedef struct rbEngineSession rbEngineSession;

RB_ENGINE_API rbEngineSession* rbEngine_OpenSession(const char* text, size_t size,
                                                    const char* name);
RB_ENGINE_API void rbEngine_CloseSession(rbEngineSession* session); // NULL is fine
// One command of the client. Returns the reply, JSON, valid until the next command.
RB_ENGINE_API const char* rbEngine_Command(rbEngineSession* session, const char* text, size_t size);
// Advances; s of wall time until the next tick is due, negative: nothing to do until a command
// comes.
RB_ENGINE_API double rbEngine_Tick(rbEngineSession* session);
// The next message that the client lacks: its bytes, NULL: there is none. Valid until the next
// call.
RB_ENGINE_API const void* rbEngine_NextMessage(rbEngineSession* session);
RB_ENGINE_API size_t rbEngine_GetMessageSize(const rbEngineSession* session);
RB_ENGINE_API bool rbEngine_IsMessageText(const rbEngineSession* session);
// The greeting while no scene is open, JSON.
RB_ENGINE_API const char* rbEngine_GetHello(void);
// The scene as it is now, JSON.
RB_ENGINE_API const char* rbEngine_GetSceneText(const rbEngineSession* session);
