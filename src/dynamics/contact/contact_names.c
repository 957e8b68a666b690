// Names of the choices of contacts, and the default settings.
#include <rattleback/contact.h>

#include <string.h>

static const char* const coneNames[RB_CONE_COUNT] = {
    [RB_CONE_EXACT] = "exact",
    [RB_CONE_PYRAMID] = "pyramid",
};

static const char* const timeNames[RB_CONTACT_TIME_COUNT] = {
    [RB_CONTACT_TIME_STEP] = "step",
    [RB_CONTACT_TIME_INTERPOLATION] = "interpolation",
    [RB_CONTACT_TIME_BISECTION] = "bisection",
};

static int findName(const char* const* names, int count, const char* name)
{
    int i = 0;
    while (i < count && strcmp(names[i], name) != 0) {
        ++i;
    }
    return i;
}

const char* rbFrictionCone_Name(rbFrictionCone cone)
{
    RB_ASSERT((unsigned)cone < RB_CONE_COUNT);
    return coneNames[cone];
}

rbFrictionCone rbFrictionCone_Find(const char* name)
{
    RB_ASSERT(name != NULL);
    return (rbFrictionCone)findName(coneNames, RB_CONE_COUNT, name);
}

const char* rbContactTime_Name(rbContactTime time)
{
    RB_ASSERT((unsigned)time < RB_CONTACT_TIME_COUNT);
    return timeNames[time];
}

rbContactTime rbContactTime_Find(const char* name)
{
    RB_ASSERT(name != NULL);
    return (rbContactTime)findName(timeNames, RB_CONTACT_TIME_COUNT, name);
}

rbContactSettings rbDefaultContactSettings(void)
{
    rbContactSettings settings = {
        .isOff = true,
        .method = RB_CONTACT_IMPULSES,
        .broadPhase = RB_BROAD_TREE,
        .shell = 1e-5,
        .tolerance = 1e-6,
        .velocityTolerance = 1e-8,
        .restSpeed = 0.01,
        .sweepsMax = 2000,
        .isWarm = true,
        .shockAfter = 0,
        .law = RB_IMPACT_NEWTON,
        .cone = RB_CONE_EXACT,
        .facets = 4,
        .contactTime = RB_CONTACT_TIME_STEP,
        .frictionRule = RB_COMBINE_GEOMETRIC,
        .restitutionRule = RB_COMBINE_GEOMETRIC,
        .partSpeed = 1.0,
        .isOverlapAllowed = false,
        .areNeighborsExcluded = true,
        .freezeSpeed = 0.0,
        .freezeTime = 0.5,
    };
    return settings;
}
