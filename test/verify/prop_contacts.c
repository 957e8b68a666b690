// Contacts on their grids, read again as docs/certificate.md says: they are where they were, forces
// stay in their cones, and a contact keeps its number in whatever order contacts come.
#include "base/core/random.h"
#include "io/output/certificate_contacts.h"
#include "rb_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-5 // m
#define CONTACTS 24
#define PAIRS 3
// Half a unit in x and y, one in z, of a vector that has a length of 1 / sqrt(3) at least.
#define NORMAL_ERROR (1.2248 * 1.7321 * 0x1p-34)

typedef struct Decoded {
    uint64_t pair, id;
    rbVec3 point, normal, force; // world axes
    double push, friction;       // N
    double gap;
} Decoded;

static double gridValue(uint64_t word, int exponent)
{
    return ldexp((double)(int64_t)word, exponent);
}

static Decoded decode(const uint64_t* w, const rbBodyState* a)
{
    int force = (int)((w[2] & UINT32_MAX) >> 1) - 2048;
    int point = (int)(w[2] >> 32) - 2048;
    double x = gridValue(w[6], -34);
    double y = gridValue(w[7], -34);
    double z = 1.0 - fabs(x) - fabs(y);
    rbVec3 n = rbMakeVec3(x, y, z);
    if (z < 0.0) {
        n.x = (x < 0.0 ? -1.0 : 1.0) * (1.0 - fabs(y));
        n.y = (y < 0.0 ? -1.0 : 1.0) * (1.0 - fabs(x));
    }
    n = rbNormalize(n);
    rbVec3 e = fabs(n.x) < 0.6 ? rbMakeVec3(1.0, 0.0, 0.0) : rbMakeVec3(0.0, 1.0, 0.0);
    rbVec3 t = rbNormalize(rbCross(n, e));
    double parts[3] = {gridValue(w[9], force), gridValue(w[10], force), gridValue(w[11], force)};
    rbVec3 sum = rbAddScaled(rbScale(parts[0], n), parts[1], t);
    sum = rbAddScaled(sum, parts[2], rbCross(n, t));
    rbVec3 arm = {gridValue(w[3], point), gridValue(w[4], point), gridValue(w[5], point)};
    return (Decoded){.pair = w[0],
                     .id = w[1],
                     .point = rbAdd(a->center, rbRotate(a->transform.q, arm)),
                     .normal = rbRotate(a->transform.q, n),
                     .force = rbRotate(a->transform.q, sum),
                     .push = parts[0],
                     .friction = hypot(parts[1], parts[2]),
                     .gap = gridValue(w[8], point + 12)};
}

static rbVec3 draw(rbRandom* random, double half)
{
    double x = half * rbRandom_Symmetric(random);
    double y = half * rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, half * rbRandom_Symmetric(random));
}

static rbBodyState drawState(rbRandom* random)
{
    rbBodyState s = {.center = draw(random, 3.0)};
    rbVec3 v = draw(random, 1.0);
    s.transform.q = rbNormalizeQuat((rbQuat){rbRandom_Symmetric(random), v.x, v.y, v.z});
    return s;
}

// A contact at the edge of its cone, or within; some press a thousand times less than others.
static rbContactView drawContact(rbRandom* random, double friction)
{
    rbContactView view = {.point = draw(random, 3.0), .normal = rbNormalize(draw(random, 1.0))};
    if (rbRandom_Index(random, 4) == 0) { // an axis
        view.normal = rbMakeVec3(0.0, 0.0, rbRandom_Index(random, 2) == 0 ? 1.0 : -1.0);
    }
    double push = 40.0 * pow(10.0, -3.0 * (rbRandom_Symmetric(random) + 1.0));
    double slip = rbRandom_Index(random, 2) == 0 ? 1.0 : 0.5 * (rbRandom_Symmetric(random) + 1.0);
    rbVec3 along = rbNormalize(rbCross(view.normal, draw(random, 1.0)));
    view.force = rbAddScaled(rbScale(push, view.normal), friction * slip * push, along);
    view.gap = 1e-5 * (1.0 + rbRandom_Symmetric(random));
    view.isSticking = slip < 1.0;
    return view;
}

static void expectSame(const rbContactView* view, const Decoded* d, double friction, double most)
{
    double miss = rbLength(rbSub(d->force, view->force));
    assert_true(rbLength(rbSub(d->point, view->point)) <= TOLERANCE * 0x1p-17);
    assert_true(rbLength(rbSub(d->normal, view->normal)) <= NORMAL_ERROR);
    assert_true(miss <= NORMAL_ERROR * rbLength(view->force) + 4.0 * 0x1p-36 * most);
    assert_true(d->push > 0.0 && d->friction <= friction * d->push * (1.0 + 1e-14));
    assert_true(d->gap <= view->gap && d->gap > view->gap - TOLERANCE * 0x1p-5);
}

static void contactsAreReadAgain(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(8)};
    for (int n = 0; n < rbTest_Count(20, 1000); ++n) {
        rbContactCoder* coder = rbCreateContactCoder(TOLERANCE);
        double friction = rbRandom_Index(&random, 3) * 0.4;
        rbBodyState states[PAIRS][2];
        rbContactView views[CONTACTS];
        uint64_t ids[CONTACTS];
        double most[PAIRS] = {0.0};
        int orders[CONTACTS];
        for (int i = 0; i < PAIRS; ++i) {
            states[i][0] = drawState(&random);
            states[i][1] = drawState(&random);
        }
        for (int i = 0; i < CONTACTS; ++i) {
            views[i] = drawContact(&random, friction);
            orders[i] = i;
            most[i % PAIRS] = fmax(most[i % PAIRS], rbDot(views[i].force, views[i].normal));
        }
        for (int step = 0; step < 3; ++step) {
            for (int i = CONTACTS - 1; i > 0; --i) { // any order
                int k = rbRandom_Index(&random, i + 1);
                int other = orders[k];
                orders[k] = orders[i];
                orders[i] = other;
            }
            for (int i = 0; i < CONTACTS; ++i) {
                int k = orders[i];
                rbContactCoder_Add(coder, (uint64_t)(k % PAIRS) | UINT64_C(7) << 32, &views[k],
                                   states[k % PAIRS]);
            }
            int count;
            const uint64_t* words = rbContactCoder_Take(coder, &count);
            assert_int_equal(count, CONTACTS * RB_CONTACT_WORDS);
            for (int i = 0; i < CONTACTS; ++i) {
                const uint64_t* w = &words[(size_t)i * RB_CONTACT_WORDS];
                int pair = (int)(uint32_t)w[0];
                Decoded d = decode(w, &states[pair][0]);
                int best = pair; // the contact that it is
                for (int k = pair; k < CONTACTS; k += PAIRS) {
                    bool isNearer = rbLength(rbSub(d.point, views[k].point)) <
                                    rbLength(rbSub(d.point, views[best].point));
                    best = isNearer ? k : best;
                }
                expectSame(&views[best], &d, friction, most[pair]);
                assert_true(step == 0 || ids[best] == d.id);
                ids[best] = d.id;
                bool isFirst = i == 0 || words[(size_t)(i - 1) * RB_CONTACT_WORDS] != d.pair;
                assert_true(isFirst || words[(size_t)(i - 1) * RB_CONTACT_WORDS + 1] < d.id);
            }
        }
        rbDestroyContactCoder(coder);
    }
}

// Far from the center of A the grid of points is coarser, and no integer overflows; what does not
// push is left out.
static void extremeContactsAreCoded(void** state)
{
    (void)state;
    rbContactCoder* coder = rbCreateContactCoder(TOLERANCE);
    rbBodyState states[2] = {{.transform = RB_TRANSFORM_IDENTITY},
                             {.transform = RB_TRANSFORM_IDENTITY}};
    const rbVec3 up = {0.0, 0.0, 1.0};
    rbContactView views[3] = {
        {.point = {1e12, -3e11, 7.0}, .normal = up, .force = {0.0, 0.0, 1e-200}},
        {.point = {0.0, 0.0, 0.0}, .normal = up, .force = {0.0, 0.0, 1e-220}},
        {.point = {0.0, 0.0, 0.0}, .normal = up, .force = {0.0, 0.0, 5.0}},
    };
    for (int i = 0; i < 3; ++i) {
        rbContactCoder_Add(coder, i < 2 ? 1u : 2u, &views[i], states);
    }
    int count;
    const uint64_t* words = rbContactCoder_Take(coder, &count);
    assert_int_equal(count, 2 * RB_CONTACT_WORDS);
    Decoded d = decode(words, &states[0]);
    assert_true(rbLength(rbSub(d.point, views[0].point)) <= 1e-3);
    assert_true(fabs(d.push - 1e-200) <= 1e-210);
    d = decode(&words[RB_CONTACT_WORDS], &states[0]);
    assert_true(d.push == 5.0 && d.friction == 0.0);
    rbDestroyContactCoder(coder);
}

RB_TEST_GROUP(prop_contacts, cmocka_unit_test(contactsAreReadAgain),
              cmocka_unit_test(extremeContactsAreCoded));
