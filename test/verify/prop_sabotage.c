// Seeded sabotage: one thing is changed at a random place, checksums are repaired, and the verifier
// must find it.
#include "base/core/random.h"
#include "certificate_words.h"
#include "rb_test.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENT = 1,
    FLIGHT,
    CONTACTS,
    JOINTS,
    SPRINGS,
    NODE
};

// Words of an event after its head.
enum {
    E_TIME,
    E_KIND,
    E_BODIES,
    E_CHANGE,
    E_BEFORE,
    E_FRICTION,
    E_POINT,
    E_NORMAL = 9,
    E_IMPULSE = 12,
    E_APPROACH = 15,
    E_HISTORY
};

#define IMPACT 4u
#define MICRO 5u

static rbVReport report; // large

typedef struct Spot {
    rbWordFile* file;
    uint64_t* words; // of the record, after its head
    size_t size;
    rbRandom* random;
} Spot;

// Changes a place; false: it does not suit.
typedef bool SabotageFn(Spot* spot);

static double get(const Spot* s, size_t at)
{
    return rbWordToNumber(s->words[at]);
}

static void set(Spot* s, size_t at, double value)
{
    s->words[at] = rbNumberToWord(value);
}

static double sizeAt(const Spot* s, size_t at)
{
    return sqrt(get(s, at) * get(s, at) + get(s, at + 1) * get(s, at + 1) +
                get(s, at + 2) * get(s, at + 2));
}

static bool isImpact(const Spot* s)
{
    uint32_t kind = (uint32_t)s->words[E_KIND];
    return (kind == IMPACT || kind == MICRO) && sizeAt(s, E_IMPULSE) > 0.0;
}

static bool isLawful(const Spot* s)
{
    return (uint32_t)s->words[E_KIND] == IMPACT && sizeAt(s, E_IMPULSE) > 0.0;
}

// -------------------------------------------------------------------------------------------
// events

static bool moveEventTime(Spot* s)
{
    set(s, E_TIME, get(s, E_TIME) + 1e-6);
    return isImpact(s);
}

static bool scaleImpulse(Spot* s)
{
    for (size_t i = 0; i < 3; ++i) {
        set(s, E_IMPULSE + i, get(s, E_IMPULSE + i) * (1.0 + 1e-6));
    }
    return isImpact(s);
}

static bool dropImpulse(Spot* s)
{
    bool isGood = isImpact(s);
    for (size_t i = 0; i < 3; ++i) {
        set(s, E_IMPULSE + i, 0.0);
    }
    return isGood;
}

static bool bendImpulse(Spot* s)
{
    double size = sizeAt(s, E_IMPULSE);
    size_t i = (size_t)rbRandom_Index(s->random, 3);
    set(s, E_IMPULSE + i, get(s, E_IMPULSE + i) + 1e-5 * size);
    return isImpact(s);
}

// By a part of its distance to the origin of a direction that is not the normal.
static bool movePoint(Spot* s)
{
    size_t flat = 0;
    for (size_t i = 1; i < 3; ++i) {
        flat = fabs(get(s, E_NORMAL + i)) < fabs(get(s, E_NORMAL + flat)) ? i : flat;
    }
    set(s, E_POINT + flat, get(s, E_POINT + flat) + 1e-6);
    return isImpact(s);
}

static bool flipNormal(Spot* s)
{
    for (size_t i = 0; i < 3; ++i) {
        set(s, E_NORMAL + i, -get(s, E_NORMAL + i));
    }
    return isImpact(s);
}

static bool lengthenNormal(Spot* s)
{
    for (size_t i = 0; i < 3; ++i) {
        set(s, E_NORMAL + i, get(s, E_NORMAL + i) * (1.0 + 1e-9));
    }
    return isImpact(s);
}

static bool changeLaw(Spot* s)
{
    uint64_t law = s->words[E_KIND] >> 32;
    s->words[E_KIND] = (s->words[E_KIND] & UINT32_MAX) | ((law + 1) % 3) << 32;
    return isImpact(s);
}

static bool callItMicro(Spot* s)
{
    bool isGood = isLawful(s);
    s->words[E_KIND] = (s->words[E_KIND] & ~(uint64_t)UINT32_MAX) | MICRO;
    return isGood;
}

// The tangential part of a point that slid to the end grows by 1e-9.
static bool leaveCone(Spot* s)
{
    bool isSliding = isImpact(s) && s->words[E_HISTORY] == 1;
    double normal = 0.0;
    for (size_t i = 0; i < 3; ++i) {
        normal += get(s, E_IMPULSE + i) * get(s, E_NORMAL + i);
    }
    for (size_t i = 0; i < 3; ++i) {
        double along = normal * get(s, E_NORMAL + i);
        double across = get(s, E_IMPULSE + i) - along;
        set(s, E_IMPULSE + i, along + across * (1.0 + 1e-9));
    }
    return isSliding;
}

static bool changeEnergy(Spot* s)
{
    set(s, E_CHANGE, get(s, E_CHANGE) + 1e-6 * get(s, E_BEFORE));
    return isImpact(s) && get(s, E_BEFORE) > 0.0 && get(s, E_APPROACH) > 1e-6;
}

static bool changeBefore(Spot* s)
{
    set(s, E_BEFORE, get(s, E_BEFORE) * (1.0 + 1e-6));
    return isLawful(s) && get(s, E_BEFORE) > 0.0 && get(s, E_APPROACH) > 1e-6;
}

static bool changeFriction(Spot* s)
{
    set(s, E_FRICTION, get(s, E_FRICTION) - 1e-4 * get(s, E_BEFORE));
    return isLawful(s) && get(s, E_BEFORE) > 0.0 && get(s, E_APPROACH) > 1e-6;
}

static bool changeApproach(Spot* s)
{
    set(s, E_APPROACH, get(s, E_APPROACH) * (1.0 + 1e-4));
    return isImpact(s) && get(s, E_APPROACH) > 1e-6;
}

static bool exchangeBodies(Spot* s)
{
    s->words[E_BODIES] = s->words[E_BODIES] >> 32 | s->words[E_BODIES] << 32;
    return isImpact(s);
}

static bool forgetEvent(Spot* s)
{
    bool isGood = isImpact(s);
    s->words[E_KIND] = 2; // "motion fallback", which changes no motion
    return isGood;
}

// ------------------------------------------------------------------------------------------
// flights

static bool moveFlight(Spot* s)
{
    size_t at = 2 + (size_t)rbRandom_Index(s->random, 3);
    set(s, at, get(s, at) + 1e-6);
    return true;
}

static bool turnFlight(Spot* s)
{
    // by 1e-6 rad, keeping the length: to first order w and x exchange
    double w = get(s, 5);
    double x = get(s, 6);
    set(s, 5, w - 5e-7 * x);
    set(s, 6, x + 5e-7 * w);
    double y = get(s, 7);
    double z = get(s, 8);
    set(s, 7, y + 5e-7 * z);
    set(s, 8, z - 5e-7 * y);
    return true;
}

static bool speedFlight(Spot* s)
{
    size_t at = 9 + (size_t)rbRandom_Index(s->random, 3);
    set(s, at, get(s, at) + 1e-6);
    return true;
}

static bool spinFlight(Spot* s)
{
    size_t at = 12 + (size_t)rbRandom_Index(s->random, 3);
    set(s, at, get(s, at) + 1e-6 * (1.0 + fabs(get(s, at))));
    return true;
}

static bool delayFlight(Spot* s)
{
    set(s, 0, get(s, 0) + 1e-6);
    return true;
}

static bool holdFlight(Spot* s)
{
    s->words[1] ^= (uint64_t)1 << 32;
    return true;
}

static bool giveFlightAway(Spot* s)
{
    // to the next body, if it can fly: otherwise the file is impossible
    s->words[1] += 1;
    return true;
}

// --------------------------------------------------------------------------------------------
// nodes

#define NODE_HEAD 21u

// The states in a node; false: it has none.
static bool chooseState(Spot* s, size_t* at)
{
    int count = (int)((s->size - NODE_HEAD) / 14);
    if (count == 0) {
        return false;
    }
    *at = NODE_HEAD + 14 * (size_t)rbRandom_Index(s->random, count) + 1;
    return true;
}

static bool changeState(Spot* s, size_t field, double by)
{
    size_t at;
    if (!chooseState(s, &at)) {
        return false;
    }
    set(s, at + field, get(s, at + field) + by);
    return true;
}

static bool raiseNode(Spot* s)
{
    return changeState(s, 2, 1e-6);
}

static bool speedNode(Spot* s)
{
    size_t at;
    if (!chooseState(s, &at)) {
        return false;
    }
    size_t field = at + 7 + (size_t)rbRandom_Index(s->random, 3);
    set(s, field, get(s, field) + 1e-5 * (1.0 + fabs(get(s, field))));
    return true;
}

static bool ledgerBy(Spot* s, size_t at)
{
    double energy = fabs(get(s, 2)) + fabs(get(s, 3)) + fabs(get(s, 4)) + fabs(get(s, 6));
    set(s, at, get(s, at) + 1e-6 * energy);
    return energy > 0.0;
}

static bool bookKinetic(Spot* s)
{
    return ledgerBy(s, 2);
}
static bool bookAngular(Spot* s)
{
    return ledgerBy(s, 3);
}
static bool bookPotential(Spot* s)
{
    return ledgerBy(s, 4);
}
static bool bookTotal(Spot* s)
{
    return ledgerBy(s, 6);
}
static bool bookWork(Spot* s)
{
    return ledgerBy(s, 7);
}
static bool bookRest(Spot* s)
{
    return ledgerBy(s, 13);
}
static bool bookDrift(Spot* s)
{
    return ledgerBy(s, 14);
}

// From friction to impacts: the sum stays.
static bool bookElsewhere(Spot* s)
{
    double energy = fabs(get(s, 2)) + fabs(get(s, 3)) + fabs(get(s, 4));
    set(s, 8, get(s, 8) + 1e-6 * energy);
    set(s, 9, get(s, 9) - 1e-6 * energy);
    return energy > 0.0;
}

static bool changeMomentum(Spot* s)
{
    size_t at = 15 + (size_t)rbRandom_Index(s->random, 6);
    double size = sizeAt(s, 15) + sizeAt(s, 18);
    set(s, at, get(s, at) + 1e-6 * size);
    return size > 0.0;
}

static bool delayNode(Spot* s)
{
    set(s, 0, get(s, 0) + 1e-5);
    return true;
}

// --------------------------------------------------------------------------------------------
// links

static bool openJoint(Spot* s)
{
    size_t at = 11 * (size_t)rbRandom_Index(s->random, (int)(s->size / 11)) + 9;
    set(s, at, get(s, at) + 1e-6);
    return true;
}

static bool turnJoint(Spot* s)
{
    size_t at = 11 * (size_t)rbRandom_Index(s->random, (int)(s->size / 11)) + 10;
    set(s, at, get(s, at) + 1e-6);
    return true;
}

static bool stretchSpring(Spot* s)
{
    size_t at = 3 * (size_t)rbRandom_Index(s->random, (int)(s->size / 3)) + 1;
    set(s, at, get(s, at) + 1e-6);
    return true;
}

static bool loadSpring(Spot* s)
{
    size_t at = 3 * (size_t)rbRandom_Index(s->random, (int)(s->size / 3)) + 2;
    set(s, at, get(s, at) * (1.0 + 1e-6) + 1e-6);
    return true;
}

// Words of a contact.
enum {
    C_BODIES,
    C_EXPONENTS = 2, // sticks, exponent of the force; that of the point
    C_POINT,
    C_NORMAL = 6,
    C_GAP = 8,
    C_PUSH, // along the normal, then along both tangents
    C_WORDS = 12
};

static size_t chooseContact(const Spot* s)
{
    return C_WORDS * (size_t)rbRandom_Index(s->random, (int)(s->size / C_WORDS));
}

static bool pullContact(Spot* s)
{
    size_t at = chooseContact(s) + C_PUSH;
    for (size_t i = 0; i < 3; ++i) {
        s->words[at + i] = 0 - s->words[at + i];
    }
    return true;
}

// It says that it is open by more than the bodies moved.
static bool openContact(Spot* s)
{
    size_t at = chooseContact(s);
    int exponent = (int)(s->words[at + C_EXPONENTS] >> 32) - 2048 + 12;
    s->words[at + C_GAP] += (uint64_t)ldexp(0.1, -exponent);
    return true;
}

// The force acts between two bodies that are far apart.
static bool pushAcross(Spot* s)
{
    size_t at = chooseContact(s);
    uint32_t b = (uint32_t)(s->words[at] >> 32);
    s->words[at] = (uint64_t)(b > 2 ? b - 2 : b + 2) | (uint64_t)b << 32;
    return true;
}

// Of a contact that slides: its friction grows by 1e-9, and by three units of its grid at least.
static bool leaveContactCone(Spot* s)
{
    size_t at = chooseContact(s);
    double x = (double)(int64_t)s->words[at + C_PUSH + 1];
    double y = (double)(int64_t)s->words[at + C_PUSH + 2];
    double size = hypot(x, y);
    double more = fmax(1e-9, 3.0 / size);
    bool isSliding = (s->words[at + C_EXPONENTS] & 1u) == 0 && size > 0.0;
    for (size_t i = 0; i < 2 && isSliding; ++i) {
        double part = i == 0 ? x : y;
        s->words[at + C_PUSH + 1 + i] += (uint64_t)(int64_t)copysign(ceil(fabs(part) * more), part);
    }
    return isSliding;
}

// --------------------------------------------------------------------------------------------
// tests

typedef struct Sabotage {
    const char* name;
    uint32_t kind;
    SabotageFn* change;
} Sabotage;

typedef struct Source {
    const char* scene;
    const char* options;
} Source;

static void reportMiss(const Sabotage* what, const Source* source, int result)
{
    (void)fprintf(stderr, "%s in %s: result %d\n", what->name, source->scene, result);
}

// Sabotages each kind at random places of each source; all must be found.
static void sabotage(const Source* sources, int sourceCount, const Sabotage* kinds, int kindCount)
{
    rbRandom random = {rbTest_Seed(3)};
    char message[RB_V_VERIFY_MESSAGE];
    int missed = 0;
    int tried = 0;
    for (int i = 0; i < sourceCount; ++i) {
        size_t size;
        unsigned char* bytes = rbMakeCertificate(sources[i].scene, sources[i].options, &size);
        rbWordFile file = rbReadWordFile(bytes, size);
        free(bytes);
        rbWriteWordFile(&file, rbScratchPath());
        assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 0);
        for (int k = 0; k < kindCount; ++k) {
            int count;
            rbWordRecord* records = rbListRecords(&file, kinds[k].kind, &count);
            int places = rbTest_Count(1, 5);
            for (int n = 0, tries = 0; count > 0 && n < places && tries < 40 * places; ++tries) {
                const rbWordRecord* r = &records[rbRandom_Index(&random, count)];
                uint64_t* words = &file.blocks[r->block].words[r->place + 1];
                uint64_t* copy = malloc((r->size + 1) * sizeof *copy);
                memcpy(copy, words, r->size * sizeof *copy);
                Spot spot = {&file, words, r->size, &random};
                if (kinds[k].change(&spot)) {
                    n += 1;
                    tried += 1;
                    rbWriteWordFile(&file, rbScratchPath());
                    int result = rbVerifyCertificate(rbScratchPath(), &report, message);
                    if (result == 0) {
                        missed += 1;
                        reportMiss(&kinds[k], &sources[i], result);
                    }
                }
                memcpy(words, copy, r->size * sizeof *copy);
                free(copy);
            }
            free(records);
        }
        rbFreeWordFile(&file);
    }
    (void)fprintf(stderr, "%d places changed, %d not found\n", tried, missed);
    assert_true(tried > 0);
    assert_int_equal(missed, 0);
}

static void sabotagedEventsAreFound(void** state)
{
    (void)state;
    static const Source sources[] = {
        {"bouncing-ball", "--duration 1"},         {"dice", "--duration 0.5"},
        {"rattleback", "--duration 0.2"},          {"newtons-cradle", ""},
        {"block-on-an-incline", "--duration 0.3"}, {"billiard-break", "--duration 0.2"},
        {"tippe-top", "--duration 0.1"},           {"hard-sphere-gas", "--duration 0.3"},
    };
    static const Sabotage kinds[] = {
        {"time of an event", EVENT, moveEventTime},
        {"impulse scaled by 1 + 1e-6", EVENT, scaleImpulse},
        {"impulse dropped", EVENT, dropImpulse},
        {"impulse bent by 1e-5", EVENT, bendImpulse},
        {"point moved by 1e-6 m", EVENT, movePoint},
        {"normal flipped", EVENT, flipNormal},
        {"normal lengthened by 1e-9", EVENT, lengthenNormal},
        {"another law", EVENT, changeLaw},
        {"friction outside the cone by 1e-9", EVENT, leaveCone},
        {"energy of an impact", EVENT, changeEnergy},
        {"energy before an impact", EVENT, changeBefore},
        {"work of friction", EVENT, changeFriction},
        {"approach speed", EVENT, changeApproach},
        {"bodies exchanged", EVENT, exchangeBodies},
        {"contact skipped", EVENT, forgetEvent},
        {"impact called a microcollision", EVENT, callItMicro},
        {"flight moved by 1e-6 m", FLIGHT, moveFlight},
        {"flight turned by 1e-6 rad", FLIGHT, turnFlight},
        {"velocity of a flight", FLIGHT, speedFlight},
        {"spin of a flight", FLIGHT, spinFlight},
        {"flight delayed", FLIGHT, delayFlight},
        {"flight held or released", FLIGHT, holdFlight},
        {"flight of another body", FLIGHT, giveFlightAway},
        {"body raised by 1e-6 m", NODE, raiseNode},
        {"velocity at a node", NODE, speedNode},
        {"energy of translation", NODE, bookKinetic},
        {"energy of rotation", NODE, bookAngular},
        {"potential energy", NODE, bookPotential},
        {"total energy", NODE, bookTotal},
        {"work", NODE, bookWork},
        {"energy of rest", NODE, bookRest},
        {"drift", NODE, bookDrift},
        {"friction booked as impact", NODE, bookElsewhere},
        {"momentum", NODE, changeMomentum},
        {"time of a node", NODE, delayNode},
    };
    sabotage(sources, (int)(sizeof sources / sizeof sources[0]), kinds,
             (int)(sizeof kinds / sizeof kinds[0]));
}

static void sabotagedStepsAreFound(void** state)
{
    (void)state;
    static const Source sources[] = {
        {"pendulum", "--duration 1"},
        {"four-bar", "--duration 0.3"},
        {"spring-damping", "--duration 0.3"},
        {"incline-of-ten", "--duration 0.2"},
    };
    static const Sabotage kinds[] = {
        {"body raised by 1e-6 m", NODE, raiseNode},
        {"velocity at a node", NODE, speedNode},
        {"energy of translation", NODE, bookKinetic},
        {"potential energy", NODE, bookPotential},
        {"total energy", NODE, bookTotal},
        {"work", NODE, bookWork},
        {"drift", NODE, bookDrift},
        {"momentum", NODE, changeMomentum},
        {"joint open by 1e-6 m", JOINTS, openJoint},
        {"joint turned by 1e-6 rad", JOINTS, turnJoint},
        {"length of a spring", SPRINGS, stretchSpring},
        {"energy of a spring", SPRINGS, loadSpring},
        {"contact that pulls", CONTACTS, pullContact},
        {"contact that pushes and is open", CONTACTS, openContact},
        {"force between bodies that are apart", CONTACTS, pushAcross},
        {"sliding contact outside its cone by 1e-9", CONTACTS, leaveContactCone},
    };
    sabotage(sources, (int)(sizeof sources / sizeof sources[0]), kinds,
             (int)(sizeof kinds / sizeof kinds[0]));
}

// The words of the settings after the text of the version, before the geometries.
#define SETTINGS_WORDS 27u

static void anExchangedMeshIsFound(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    char message[RB_V_VERIFY_MESSAGE];
    size_t size;
    unsigned char* bytes = rbMakeCertificate("interlocked-meshes", "--duration 0.01", &size);
    rbWordFile file = rbReadWordFile(bytes, size);
    free(bytes);
    uint64_t* model = file.blocks[0].words;
    size_t start = 1 + (size_t)(model[0] + 7) / 8 + SETTINGS_WORDS + 1;
    assert_in_range(model[start], 7, 10); // hull, polyhedron, mesh or soup
    for (int i = 0; i < rbTest_Count(10, 100); ++i) {
        size_t at = start + 3 + (size_t)rbRandom_Index(&random, 30);
        uint64_t before = model[at];
        model[at] = rbNumberToWord(rbWordToNumber(before) + 1e-6);
        rbWriteWordFile(&file, rbScratchPath());
        assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 2);
        assert_non_null(strstr(message, "geometry 0"));
        model[at] = before;
    }
    // and the numbers of events that the end claims
    rbWordBlock* done = &file.blocks[file.count - 1];
    done->words[7] += 1;
    rbWriteWordFile(&file, rbScratchPath());
    assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 1);
    done->words[7] -= 1;
    done->words[0] = rbNumberToWord(rbWordToNumber(done->words[0]) + 1e-9);
    rbWriteWordFile(&file, rbScratchPath());
    assert_int_equal(rbVerifyCertificate(rbScratchPath(), &report, message), 1);
    rbFreeWordFile(&file);
}

RB_TEST_GROUP(prop_sabotage, cmocka_unit_test(sabotagedEventsAreFound),
              cmocka_unit_test(sabotagedStepsAreFound), cmocka_unit_test(anExchangedMeshIsFound));
