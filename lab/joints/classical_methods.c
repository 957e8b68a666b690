// The classical methods as rows of the step engine's table, and their settings.
#include "lab/joints/classical_state.h"

#include <math.h>

#define CLASSICAL_COOKIE 0x6c61626a6f696e74u // "labjoint"

rbClassicalSettings rbDefaultClassicalSettings(void)
{
    return (rbClassicalSettings){.penaltyFrequency = 100.0, .penaltyDamping = 1.0};
}

void rbStepSettings_SetClassical(rbStepSettings* step, const rbClassicalSettings* settings)
{
    rbExtraSettings_Put(&step->extra, CLASSICAL_COOKIE, settings, sizeof *settings);
}

rbClassicalSettings rbStepSettings_GetClassical(const rbStepSettings* step)
{
    rbClassicalSettings settings = rbDefaultClassicalSettings();
    (void)rbExtraSettings_Get(&step->extra, CLASSICAL_COOKIE, &settings, sizeof settings);
    return settings;
}

static rbStatus checkSettings(const rbStepSettings* step, rbError* error)
{
    const rbClassicalSettings s = rbStepSettings_GetClassical(step);
    const struct {
        const char* name;
        double value;
        bool isZeroAllowed;
    } numbers[] = {{"baumgarteAlpha", s.baumgarteAlpha, true},
                   {"baumgarteBeta", s.baumgarteBeta, true},
                   {"penaltyFrequency", s.penaltyFrequency, false},
                   {"penaltyDamping", s.penaltyDamping, true}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        double value = numbers[i].value;
        if (!isfinite(value) || value < 0.0 || (value == 0.0 && !numbers[i].isZeroAllowed)) {
            return rbError_Set(error, RB_STATUS_INVALID, "step.%s is %g; it must be finite and %s",
                               numbers[i].name, value,
                               numbers[i].isZeroAllowed ? "not negative" : "positive");
        }
    }
    return RB_STATUS_OK;
}

static rbClassicalMethod getMethod(const rbStepMethodRow* row)
{
    return *(const rbClassicalMethod*)row->data;
}

static rbStatus check(const rbStepMethodRow* row, const rbMechanism* mechanism, rbError* error)
{
    return rbClassical_Check(getMethod(row), mechanism, error);
}

static rbMethodState* create(const rbStepMethodRow* row, const rbMechanism* mechanism,
                             const rbStepSettings* settings)
{
    rbClassical* classical = rbCreateClassical(getMethod(row), mechanism, settings);
    if (classical == NULL) {
        return NULL;
    }
    classical->head.row = row;
    return &classical->head;
}

static void destroy(rbMethodState* state)
{
    rbDestroyClassical((rbClassical*)state);
}

static void step(rbMethodState* state, rbMechanism* mechanism, double time, double h,
                 rbMechForceFn* forces, void* context)
{
    rbClassical_Step((rbClassical*)state, mechanism, time, h, forces, context);
}

static const rbClassicalMethod methods[RB_CLASSICAL_COUNT] = {
    RB_CLASSICAL_PENALTY, RB_CLASSICAL_MULTIPLIERS, RB_CLASSICAL_BARAFF, RB_CLASSICAL_REDUCED};

#define CLASSICAL_ROW(word, method)                                         \
    {                                                                       \
        word, checkSettings, check, create, destroy, step, &methods[method] \
    }
static const rbStepMethodRow rows[RB_CLASSICAL_COUNT] = {
    [RB_CLASSICAL_PENALTY] = CLASSICAL_ROW("penalty", RB_CLASSICAL_PENALTY),
    [RB_CLASSICAL_MULTIPLIERS] = CLASSICAL_ROW("multipliers", RB_CLASSICAL_MULTIPLIERS),
    [RB_CLASSICAL_BARAFF] = CLASSICAL_ROW("baraff", RB_CLASSICAL_BARAFF),
    [RB_CLASSICAL_REDUCED] = CLASSICAL_ROW("reduced", RB_CLASSICAL_REDUCED),
};

rbStatus rbRegisterClassicalMethods(rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < RB_CLASSICAL_COUNT && status == RB_STATUS_OK; ++i) {
        status = rbRegisterStepMethod(&rows[i], error);
    }
    return status;
}
