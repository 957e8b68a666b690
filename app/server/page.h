// A run as one HTML file that replays it: the page of the viewer with the messages of a store
// inside.
//
// The page is that of the program (page_bytes.h). Its element "data" gets the messages as records
// {u32 length, u8 isText, bytes}, little-endian, compressed by gzip and written in base64. It needs
// no server and no network.
#ifndef RB_SERVER_PAGE_H
#define RB_SERVER_PAGE_H

#include <rattleback/output.h>
#include <rattleback/scene.h>

// Frames in a page at most; they are spread over the duration.
#define RB_PAGE_FRAMES_MAX 1500

typedef struct rbPageWriter rbPageWriter;

// Opens a page about a world of a scene, with its first frame; both must outlive the writer.
// duration: s, what is expected to come. NULL and an error: the file cannot be made, a shape cannot
// be drawn, or the program was built without the page.
rbPageWriter* rbCreatePageWriter(const char* path, const rbScene* scene, const rbWorld* world,
                                 double duration, rbError* error);
// Takes the state of now, unless the last one taken is very near.
rbStatus rbPageWriter_TakeFrame(rbPageWriter* writer, const rbWorld* world, rbError* error);
// Takes events; bodies by their place in the world.
void rbPageWriter_TakeEvents(rbPageWriter* writer, const rbRecordedEvent* events, int count);
// Takes the state of now as the last, writes the file and frees the writer. NULL is fine for the
// second.
rbStatus rbPageWriter_Finish(rbPageWriter* writer, const rbWorld* world, rbError* error);
void rbPageWriter_Abandon(rbPageWriter* writer);

#endif
