// A run as one HTML file that replays it: the viewer page with the messages of a store inside.
//
// The page is that of the program (page_bytes.h). Its element "data" gets the messages as records
// {u32 length, u8 isText, bytes}, little-endian, compressed by gzip and written in base64. It needs
// no server and no network.
#pragma once

#include <rattleback/output.h>
#include <rattleback/scene.h>

// The maximum number of frames in a page; they are spread over the duration.
#define RB_PAGE_FRAMES_MAX 1500

typedef struct rbPageWriter rbPageWriter;

// Opens a page about a world of a scene, with its first frame; both must outlive the writer.
// duration: s, the expected length. NULL and an error: the file cannot be created, a shape cannot
// be drawn, or the program was built without the page.
rbPageWriter* rbCreatePageWriter(const char* path, const rbScene* scene, const rbWorld* world,
                                 double duration, rbError* error);
// Takes the current state, unless it is very close to the last one taken.
rbStatus rbPageWriter_TakeFrame(rbPageWriter* writer, const rbWorld* world, rbError* error);
// Takes events; bodies are given by their index in the world.
void rbPageWriter_TakeEvents(rbPageWriter* writer, const rbRecordedEvent* events, int count);
// Takes the current state as the last, writes the file and frees the writer. Abandon accepts NULL.
rbStatus rbPageWriter_Finish(rbPageWriter* writer, const rbWorld* world, rbError* error);
void rbPageWriter_Abandon(rbPageWriter* writer);
