// Colors of contacts by Jones and Plassmann: contacts are ordered by a hash of their uids, and each
// takes the lowest color that no better contact of its two bodies has. The result is that of a
// greedy pass in this order, whoever computes it, and in whatever parts.
//
// In a round, every contact that is the best one without a color at both its bodies takes a color.
// The owner of a body knows all its contacts, and tells those who have it as a ghost which colors
// are taken and which contact is the best one left. The number of rounds grows with the logarithm
// of the number of new contacts at most. A contact keeps its color as long as it lasts.
#include "base/core/hash.h"
#include "base/core/status.h"
#include "cluster/domain.h"

#include <string.h>

#define WORDS (RB_COLORS_MAX / 64)

typedef struct Word {
    uint64_t slot; // among the bodies sent to a rank
    rbBodyColors colors;
} Word;

static uint64_t uidOf(const rbDomain* domain, int index)
{
    return index >= 0 ? domain->grains.data[index].uid : RB_WALL_UID + (uint64_t)(-1 - index);
}

// Never 0.
static uint64_t hashOf(uint64_t uidA, uint64_t uidB)
{
    const uint64_t uids[2] = {uidA, uidB};
    return rbHashBytes(RB_HASH_SEED, uids, sizeof uids) | 1u;
}

static void clearBody(rbDomain* domain, int index)
{
    if (index >= 0) {
        domain->colors.data[index] = (rbBodyColors){0};
    }
}

// Counts a contact at one of its bodies: its color, or its place among those without one.
static void note(rbDomain* domain, int index, const rbNearPair* pair, uint64_t hash, uint64_t other)
{
    if (index < 0) {
        return; // walls take contacts in any order
    }
    rbBodyColors* colors = &domain->colors.data[index];
    if (pair->color >= 0) {
        colors->mask[pair->color / 64] |= (uint64_t)1 << (pair->color % 64);
    } else if (hash > colors->topHash || (hash == colors->topHash && other > colors->topUid)) {
        colors->topHash = hash;
        colors->topUid = other;
    }
}

// What our bodies know of their contacts; ghosts learn it from their owners. Returns the contacts
// without a color.
static int takeStock(rbDomain* domain)
{
    int missing = 0;
    for (int i = 0; i < domain->contacts.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[domain->contacts.data[i]];
        clearBody(domain, pair->a);
        clearBody(domain, pair->b);
    }
    for (int i = 0; i < domain->contacts.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[domain->contacts.data[i]];
        uint64_t uidA = uidOf(domain, pair->a);
        uint64_t uidB = uidOf(domain, pair->b);
        uint64_t hash = pair->color < 0 ? hashOf(uidA, uidB) : 0;
        note(domain, pair->a, pair, hash, uidB);
        note(domain, pair->b, pair, hash, uidA);
        missing += pair->color < 0;
    }
    return missing;
}

static bool isKnown(const rbBodyColors* colors)
{
    return colors->topHash != 0 || (colors->mask[0] | colors->mask[1]) != 0;
}

static void shareColors(rbDomain* domain)
{
    rbMail_Clear(&domain->mail);
    for (int k = 0; k < domain->neighbors.count; ++k) {
        int r = domain->neighbors.data[k];
        for (int i = 0; i < domain->sent[r].count; ++i) {
            const rbBodyColors* colors = &domain->colors.data[domain->sent[r].data[i]];
            if (isKnown(colors)) {
                Word word = {(uint64_t)i, *colors};
                rbMail_Write(&domain->mail, r, &word, sizeof word);
            }
        }
    }
    rbRankList neighbors = {domain->neighbors.data, domain->neighbors.count};
    rbRanks_ExchangeNear(domain->ranks, &domain->mail, neighbors, neighbors);
    for (int k = 0; k < domain->neighbors.count; ++k) {
        int r = domain->neighbors.data[k];
        size_t size = 0;
        const unsigned char* bytes = rbMail_Read(&domain->mail, r, &size);
        for (size_t at = 0; at < size; at += sizeof(Word)) {
            Word word;
            memcpy(&word, bytes + at, sizeof word);
            domain->colors.data[domain->ghostFirst[r] + (int)word.slot] = word.colors;
        }
    }
}

static bool isTop(const rbDomain* domain, int index, uint64_t hash, uint64_t other)
{
    if (index < 0) {
        return true;
    }
    const rbBodyColors* colors = &domain->colors.data[index];
    return colors->topHash == hash && colors->topUid == other;
}

// The lowest color that neither body has; RB_COLORS_MAX: none is left.
static int lowestColor(const rbDomain* domain, const rbNearPair* pair)
{
    for (int w = 0; w < WORDS; ++w) {
        uint64_t taken = domain->colors.data[pair->a].mask[w];
        taken |= pair->b >= 0 ? domain->colors.data[pair->b].mask[w] : 0;
        for (int bit = 0; ~taken != 0 && bit < 64; ++bit) {
            if ((taken >> bit & 1u) == 0) {
                return 64 * w + bit;
            }
        }
    }
    return RB_COLORS_MAX;
}

// One round; returns false where a body has too many contacts.
static bool colorTops(rbDomain* domain)
{
    for (int i = 0; i < domain->contacts.count; ++i) {
        rbNearPair* pair = &domain->pairs.data[domain->contacts.data[i]];
        if (pair->color >= 0) {
            continue;
        }
        uint64_t uidA = uidOf(domain, pair->a);
        uint64_t uidB = uidOf(domain, pair->b);
        uint64_t hash = hashOf(uidA, uidB);
        if (isTop(domain, pair->a, hash, uidB) && isTop(domain, pair->b, hash, uidA)) {
            int color = lowestColor(domain, pair);
            if (color == RB_COLORS_MAX) {
                return false;
            }
            pair->color = color;
        }
    }
    return true;
}

// Contacts ordered by color, by counting.
static void order(rbDomain* domain)
{
    int counts[RB_COLORS_MAX + 1] = {0};
    size_t size = (size_t)domain->contacts.count * sizeof(int);
    int* ordered = rbAlloc(size);
    for (int i = 0; i < domain->contacts.count; ++i) {
        ++counts[domain->pairs.data[domain->contacts.data[i]].color + 1];
    }
    for (int c = 0; c < RB_COLORS_MAX; ++c) {
        counts[c + 1] += counts[c];
    }
    memcpy(domain->colorFirst, counts, sizeof counts);
    for (int i = 0; i < domain->contacts.count; ++i) {
        int color = domain->pairs.data[domain->contacts.data[i]].color;
        ordered[counts[color]++] = domain->contacts.data[i];
    }
    if (size > 0) {
        memcpy(domain->contacts.data, ordered, size);
    }
    rbFree(ordered, size);
}

// Tells neighbors in which colors our bodies that they have as ghosts change, so that nobody waits
// for a message about nothing.
static void announceColors(rbDomain* domain)
{
    int count = domain->neighbors.count;
    rbArray_Reserve(domain->outColors, count);
    rbArray_Reserve(domain->inColors, count);
    rbMail_Clear(&domain->mail);
    for (int k = 0; k < count; ++k) {
        int r = domain->neighbors.data[k];
        rbColorMask mask = {{0}};
        for (int i = 0; i < domain->sent[r].count; ++i) {
            const rbBodyColors* colors = &domain->colors.data[domain->sent[r].data[i]];
            for (int w = 0; w < WORDS; ++w) {
                mask.bits[w] |= colors->mask[w];
            }
        }
        domain->outColors.data[k] = mask;
        rbMail_Write(&domain->mail, r, &mask, sizeof mask);
    }
    rbRankList neighbors = {domain->neighbors.data, count};
    rbRanks_ExchangeNear(domain->ranks, &domain->mail, neighbors, neighbors);
    for (int k = 0; k < count; ++k) {
        size_t size = 0;
        const unsigned char* bytes = rbMail_Read(&domain->mail, domain->neighbors.data[k], &size);
        RB_ASSERT(size == sizeof(rbColorMask));
        memcpy(&domain->inColors.data[k], bytes, sizeof(rbColorMask));
    }
}

rbStatus rbDomain_ColorContacts(rbDomain* domain, rbError* error)
{
    int64_t state[3] = {0}; // contacts without a color, a rank that failed, colors in use
    bool isPossible = true;
    for (;;) {
        state[0] = takeStock(domain);
        state[1] = !isPossible;
        state[2] = 0;
        for (int i = 0; i < domain->contacts.count; ++i) {
            int color = domain->pairs.data[domain->contacts.data[i]].color;
            state[2] = color >= state[2] ? color + 1 : state[2];
        }
        rbRanks_MaxIntegers(domain->ranks, state, 3);
        if (state[0] == 0 || state[1] != 0) {
            break;
        }
        shareColors(domain);
        isPossible = colorTops(domain);
        ++domain->rounds;
    }
    RB_REFUSE_IF(
        state[1] != 0, RB_STATUS_LIMIT, error,
        "a body has so many contacts that %d colors do not suffice; domains support bodies "
        "of similar sizes only",
        RB_COLORS_MAX);
    domain->colorCount = (int)state[2];
    order(domain);
    announceColors(domain);
    return RB_STATUS_OK;
}
