// Disjoint sets of numbered items (union and find). parents: the parent of each item, at first the
// item itself; an item that is its own parent is the root of its set, and the least item in it.
#pragma once

#include <rattleback/base.h>

#include <stdbool.h>

// The root of the set of an item; halves the path to it for the next time.
static inline int rbSets_Find(int* parents, int item)
{
    RB_ASSERT(item >= 0);
    while (parents[item] != item) {
        parents[item] = parents[parents[item]];
        item = parents[item];
    }
    return item;
}

// Joins the sets of two items; false if they were one already.
static inline bool rbSets_Join(int* parents, int a, int b)
{
    int rootA = rbSets_Find(parents, a), rootB = rbSets_Find(parents, b);
    parents[rootA > rootB ? rootA : rootB] = rootA > rootB ? rootB : rootA;
    return rootA != rootB;
}
