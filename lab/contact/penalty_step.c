// Steps with springs instead of contact impulses, see penalty_law.h. For comparison only.
//
// A step is divided into parts, each a kick, a flight and a kick. Nothing looks ahead: fast bodies
// pass through thin ones, as is inherent in this method.
#include "lab/contact/penalty_step.h"

#include "dynamics/engines/step/contact_method.h"
#include "dynamics/engines/step/step_contact_state.h"
#include "lab/contact/penalty_law.h"

#define PENALTY_COOKIE 0x6c6162636f6e7461u // "labconta"
#define DEPTH_MIN 1e-9                     // m: a step of 1/60 s has 16,000 parts
#define DAMPING_MAX 1.0

// ---------------------------------------------------------------------------------------- settings

rbPenaltySettings rbDefaultPenaltySettings(void)
{
    return (rbPenaltySettings){.depth = 1e-3, .damping = 0.5};
}

void rbContactSettings_SetPenalty(rbContactSettings* contact, const rbPenaltySettings* settings)
{
    rbExtraSettings_Put(&contact->extra, PENALTY_COOKIE, settings, sizeof *settings);
}

rbPenaltySettings rbContactSettings_GetPenalty(const rbContactSettings* contact)
{
    rbPenaltySettings settings = rbDefaultPenaltySettings();
    (void)rbExtraSettings_Get(&contact->extra, PENALTY_COOKIE, &settings, sizeof settings);
    return settings;
}

static rbStatus check(const rbContactSettings* contact, rbError* error)
{
    bool isTimed = contact->contactTime != RB_CONTACT_TIME_STEP &&
                   contact->contactTime != RB_CONTACT_TIME_AUTO;
    if (isTimed || contact->freezeSpeed > 0.0) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "contact.method is \"%s\", which has no %s; use \"impulses\"",
                           rbContactMethod_Name(contact->method),
                           contact->freezeSpeed > 0.0
                               ? "freezing (freezeSpeed > 0)"
                               : "search for the time of contact (contactTime)");
    }
    rbPenaltySettings s = rbContactSettings_GetPenalty(contact);
    if (!(s.depth >= DEPTH_MIN && s.depth < INFINITY && s.damping >= 0.0 &&
          s.damping <= DAMPING_MAX)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "contact.penaltyDepth is %g m and penaltyDamping %g; at least %g m and 0 to "
            "%g are accepted",
            s.depth, s.damping, DEPTH_MIN, DAMPING_MAX);
    }
    return RB_STATUS_OK;
}

// The laws that were registered, and their rows among the contact methods.
typedef struct OwnLaw {
    rbContactMethodRow method;
    const rbContactLawRow* law;
} OwnLaw;
static OwnLaw ownLaws[RB_REGISTERED_MAX];
static int ownLawCount = 0;

static rbPenaltyLaw makeLaw(const rbContactSettings* contact)
{
    rbPenaltySettings settings = rbContactSettings_GetPenalty(contact);
    rbPenaltyLaw law = rbMakePenaltyLaw(&settings);
    const rbContactMethodRow* method = rbContactMethodRow_Get(contact->method);
    for (int i = 0; i < ownLawCount; ++i) {
        law.row = method == &ownLaws[i].method ? ownLaws[i].law : law.row;
    }
    return law;
}

// ------------------------------------------------------------------------------------------- steps

// Applies the impulses of all points over half a part and accounts for their energy.
static void push(rbStepContacts* c, const rbStepHost* host, double h, bool isEnd)
{
    rbPenaltyLaw law = makeLaw(&c->settings);
    rbContactStep_ShowBodies(c);
    rbContactStep_OpenAccounts(c, host, c->grid.time, h, 0.0);
    rbPenaltyLaw_Push(&law, &c->set, c->bodies.data, 0.5 * h, isEnd);
    rbContactStep_AddTouches(c, host, c->accounts.opened.data, 1.0);
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        rbContactStep_AccountForLasting(c, &island, true);
    }
    rbContactStep_TakeBodies(c);
}

static void advancePart(rbStepContacts* c, const rbStepHost* host, double end)
{
    double h = end - c->grid.time;
    push(c, host, h, false);
    rbContactStep_KickLoose(c, host, c->grid.time, 0.5 * h, false);
    rbContactStep_FlyLoose(c, h);
    rbContactStep_PlaceFixed(c, end, 0.0);
    c->grid.time = end;
    rbStepContacts_MakeReady(c);
    rbContactStep_KickLoose(c, host, end, 0.5 * h, true);
    push(c, host, h, true);
}

// Scales the impulses of the last part to a whole step, for the host to read.
static void showForces(rbStepContacts* c, double scale)
{
    for (int i = 0; i < c->set.pointCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            c->set.points[i].impulse[k] *= scale;
        }
    }
}

static void advance(rbStepContacts* c, const rbStepHost* host, double end)
{
    double start = c->grid.time;
    double h = end - start;
    rbContactStep_BeginTouches(c);
    for (int i = 1; i <= c->method.parts; ++i) {
        advancePart(c, host, i < c->method.parts ? start + h * i / c->method.parts : end);
    }
    rbContactStep_ReportTouches(c, host);
    showForces(c, 2.0 * c->method.parts * c->engine->settings.step / h);
    c->engine->statistics.substeps += c->method.parts - 1;
}

// Extrapolates with the forces of the node.
static void look(rbStepContacts* c, const rbStepHost* host, double time)
{
    double h = time - c->grid.time;
    rbContactStep_NoteNode(c);
    push(c, host, h, false);
    rbContactStep_KickLoose(c, host, c->grid.time, 0.5 * h, false);
    rbContactStep_FlyLoose(c, h);
    rbContactStep_KickLoose(c, host, time, 0.5 * h, false);
    push(c, host, h, false);
}

static int countParts(const rbContactSettings* settings, double h)
{
    rbPenaltyLaw law = makeLaw(settings);
    return rbPenaltyLaw_CountParts(&law, h);
}

static const rbContactMethodRow row = {.name = "penalty",
                                       .isOfSingleBodies = true,
                                       .check = check,
                                       .countParts = countParts,
                                       .advance = advance,
                                       .look = look};

rbStatus rbRegisterPenaltyContact(rbError* error)
{
    return rbRegisterContactMethod(&row, error);
}

rbStatus rbRegisterContactLaw(const rbContactLawRow* law, rbError* error)
{
    const char* name = law->name != NULL ? law->name : "";
    if (law->force == NULL || !(law->partMax > 0.0)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the contact law \"%s\" needs a force and a partMax above 0 s, not %g",
                           name, law->partMax);
    }
    if (ownLawCount == RB_REGISTERED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the contact law \"%s\" does not fit: there are already %d", name,
                           ownLawCount);
    }
    OwnLaw* own = &ownLaws[ownLawCount];
    *own = (OwnLaw){row, law};
    own->method.name = law->name;
    rbStatus status = rbRegisterContactMethod(&own->method, error);
    ownLawCount += status == RB_STATUS_OK ? 1 : 0;
    return status;
}
