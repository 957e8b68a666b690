// A session as a simulation of the server.
#include "server/server.h"

static rbStore* getStore(void* object)
{
    return rbSession_GetStore(object);
}

static void command(void* object, int client, const char* text, size_t size, rbReply* reply)
{
    rbSession_Command(object, client, text, size, reply);
}

static void leaveClient(void* object, int client)
{
    rbSession_LeaveClient(object, client);
}

static bool tick(void* object)
{
    return rbSession_Tick(object);
}

static double getPause(void* object)
{
    return rbSession_GetPause(object);
}

static rbStatus save(void* object, const char* path, rbError* error)
{
    return rbSession_SaveRecording(object, path, error);
}

static void destroy(void* object)
{
    rbDestroySession(object);
}

rbSimulation rbMakeSessionSimulation(rbSession* session)
{
    rbSimulation simulation = {.object = session,
                               .getStore = getStore,
                               .command = command,
                               .leaveClient = leaveClient,
                               .tick = tick,
                               .getPause = getPause,
                               .save = save,
                               .destroy = destroy,
                               .kind = "live"};
    return simulation;
}
