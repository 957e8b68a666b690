// Words of the choices of contacts.
#include "dynamics/contact/contact_words.h"

static const char* const coneNames[RB_CONE_COUNT] = {
    [RB_CONE_EXACT] = "exact",
    [RB_CONE_PYRAMID] = "pyramid",
};
RB_DEFINE_WORDS(rbFrictionCone, "cone of friction", RB_CONE_COUNT, coneNames[index])

static const char* const timeNames[RB_CONTACT_TIME_COUNT] = {
    [RB_CONTACT_TIME_STEP] = "step",
    [RB_CONTACT_TIME_INTERPOLATION] = "interpolation",
    [RB_CONTACT_TIME_BISECTION] = "bisection",
};
RB_DEFINE_WORDS(rbContactTime, "search for the time of contact", RB_CONTACT_TIME_COUNT,
                timeNames[index])

static const char* getOverlapWord(int index)
{
    static const char* const names[] = {"refuse", "separate"};
    return index < 2 ? names[index] : NULL;
}
const rbWords rbOverlapWords = {"treatment of overlaps", getOverlapWord};
