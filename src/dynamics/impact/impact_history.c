// The phases of an impact as text.
#include <rattleback/impact.h>

#include <stdio.h>

static const char* const names[RB_PHASE_COUNT] = {
    [RB_PHASE_NONE] = "",           [RB_PHASE_SLIDE] = "slide",   [RB_PHASE_STICK] = "stick",
    [RB_PHASE_REVERSE] = "reverse", [RB_PHASE_SMOOTH] = "smooth", [RB_PHASE_RETURN] = "return",
    [RB_PHASE_BOOST] = "boost",     [RB_PHASE_RAY] = "ray",
};

const char* rbImpactPhase_Name(rbImpactPhase phase)
{
    RB_ASSERT((int)phase >= 0 && phase < RB_PHASE_COUNT);
    return names[phase];
}

const char* rbImpactHistory_Format(uint32_t history, char text[RB_IMPACT_HISTORY_SIZE])
{
    int length = 0;
    text[0] = '\0';
    for (uint32_t rest = history; rest != 0; rest >>= 4) {
        uint32_t phase = rest & 15u;
        RB_ASSERT(phase < RB_PHASE_COUNT);
        const char* name = phase < RB_PHASE_COUNT ? names[phase] : "?";
        int room = RB_IMPACT_HISTORY_SIZE - length;
        int written = snprintf(text + length, (size_t)room, "%s%s", length > 0 ? ", " : "", name);
        RB_ASSERT(written >= 0 && written < room);
        length += written < room ? written : room - 1;
    }
    return text;
}
