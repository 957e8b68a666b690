// Minkowski sums: the support of a sum is the sum of supports.
#include "lab/convex/minkowski.h"

#include "collision/convex/support.h"

static rbVec3 supportSum(const rbConvex* body, rbVec3 direction, int* vertex)
{
    const rbMinkowskiSum* sum = rbMinkowskiSum_Of(body);
    // any length is accepted; balanced twice, because the first time leaves a rounding
    rbVec3 d = rbBalanceDirection(rbBalanceDirection(direction));
    int unused = -1;
    rbVec3 onA = sum->a->support(sum->a, d, &unused);
    rbVec3 onB = sum->b->support(sum->b, d, &unused);
    *vertex = -1;
    return rbAdd(onA, onB);
}

void rbMinkowskiSum_Make(rbMinkowskiSum* sum, const rbConvex* a, const rbConvex* b)
{
    RB_ASSERT(a != NULL && b != NULL);
    *sum = (rbMinkowskiSum){
        .body = {.radius = a->radius + b->radius, .size = a->size + b->size, .support = supportSum},
        .a = a,
        .b = b};
}

const rbMinkowskiSum* rbMinkowskiSum_Of(const rbConvex* body)
{
    return body->support == supportSum ? (const rbMinkowskiSum*)body : NULL;
}
