// Reduced coordinates: from the joints of a mechanism to a tree of links.
#include "base/math/quaternion.h"
#include "dynamics/joints/joint_model.h"
#include "lab/joints/reduced_state.h"

typedef struct JointKind {
    rbJointType type;
    rbLinkKind kind;
    rbJointType pointPart; // part that has its points
    rbJointType turnPart;  // part that has its axis or orientation; the same part: none
} JointKind;

static const JointKind jointKinds[] = {
    {RB_JOINT_BALL, RB_LINK_BALL, RB_JOINT_BALL, RB_JOINT_BALL},
    {RB_JOINT_HINGE, RB_LINK_HINGE, RB_JOINT_BALL, RB_JOINT_DIRECTION},
    {RB_JOINT_PRISMATIC, RB_LINK_PRISMATIC, RB_JOINT_LINE, RB_JOINT_TRANSLATION},
    {RB_JOINT_FIXED, RB_LINK_FIXED, RB_JOINT_BALL, RB_JOINT_TRANSLATION},
};

static const JointKind* findKind(rbJointType type)
{
    for (size_t i = 0; i < sizeof jointKinds / sizeof jointKinds[0]; ++i) {
        if (jointKinds[i].type == type) {
            return &jointKinds[i];
        }
    }
    return NULL;
}

static const rbPartModel* findPart(const rbJointModel* model, rbJointType type)
{
    for (int i = 0; i < model->partCount; ++i) {
        if (model->parts[i].type == type) {
            return &model->parts[i];
        }
    }
    return NULL;
}

static rbStatus checkBlock(const rbRowBlock* block, rbError* error)
{
    if (block->errors != rbJointModel_Errors) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the method \"reduced\" does not support conditions other than joints; "
                           "use \"impulses\"");
    }
    const rbJointModel* model = block->data;
    const JointKind* kind = findKind(model->type);
    if (kind == NULL || findPart(model, kind->pointPart) == NULL ||
        findPart(model, kind->turnPart) == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the method \"reduced\" supports ball, hinge, prismatic and fixed "
                           "joints, not \"%s\"; use \"impulses\"",
                           rbJointType_Name(model->type));
    }
    return RB_STATUS_OK;
}

// Stores the joint in the form of the link; isFlipped: A is the child.
static void setJoint(rbReducedLink* link, const rbRowBlock* block, bool isFlipped)
{
    const rbJointModel* model = block->data;
    const JointKind* kind = findKind(model->type);
    RB_ASSERT(kind != NULL);
    const rbPartModel* point = findPart(model, kind->pointPart);
    const rbPartModel* turn = findPart(model, kind->turnPart);
    RB_ASSERT(point != NULL && turn != NULL);
    link->kind = kind->kind;
    link->pointParent = isFlipped ? point->pointB : point->pointA;
    link->pointChild = isFlipped ? point->pointA : point->pointB;
    if (kind->kind == RB_LINK_HINGE) {
        link->axisParent = isFlipped ? turn->axisB : turn->axisA;
        rbVec3 axisChild = isFlipped ? turn->axisA : turn->axisB;
        // The zero of angles does not matter as long as it does not depend on the state.
        link->relative = rbQuat_Between(axisChild, link->axisParent);
    } else {
        link->relative = isFlipped ? rbConjugate(turn->relative) : turn->relative;
        // The line is A's; without relative rotation it keeps its direction in B, too.
        link->axisParent = isFlipped ? rbRotate(link->relative, point->axisA) : point->axisA;
    }
}

static rbReducedLink* addLink(rbReduced* reduced, const rbMechanism* mechanism, int body,
                              int parentBody)
{
    RB_ASSERT(reduced->linkCount < reduced->bodyCount);
    const rbMechBody* source = &mechanism->bodies[body];
    rbReducedLink* link = &reduced->links[reduced->linkCount];
    reduced->linkOfBody[body] = reduced->linkCount++;
    link->body = body;
    link->parentBody = parentBody;
    link->parent = reduced->linkOfBody[parentBody];
    link->mass = source->mass;
    link->moments = source->moments;
    return link;
}

static void numberLink(rbReduced* reduced, rbReducedLink* link)
{
    link->firstCoordinate = reduced->coordinateCount;
    link->firstSpeed = reduced->speedCount;
    link->speedCount = rbLinkKind_GetSpeeds(link->kind);
    reduced->coordinateCount += rbLinkKind_GetCoordinates(link->kind);
    reduced->speedCount += link->speedCount;
}

// Whether a body already belongs to the tree.
static bool isPlaced(const rbReduced* reduced, const rbMechanism* mechanism, int body)
{
    return !mechanism->bodies[body].isDynamic || reduced->linkOfBody[body] >= 0;
}

// Attaches every body that a joint connects to the tree, until no more are found. The number of
// sweeps over the blocks is at most the depth of the tree, at most one per body.
static void growTree(rbReduced* reduced, const rbMechanism* mechanism)
{
    bool hasGrown = true;
    for (int sweep = 0; hasGrown && sweep <= mechanism->bodyCount; ++sweep) {
        hasGrown = false;
        for (int i = 0; i < mechanism->blockCount; ++i) {
            const rbRowBlock* block = &mechanism->blocks[i];
            bool hasA = isPlaced(reduced, mechanism, block->bodyA);
            bool hasB = isPlaced(reduced, mechanism, block->bodyB);
            if (block->kind != RB_ROW_HOLD || hasA == hasB) {
                continue;
            }
            int child = hasA ? block->bodyB : block->bodyA;
            int parent = hasA ? block->bodyA : block->bodyB;
            rbReducedLink* link = addLink(reduced, mechanism, child, parent);
            setJoint(link, block, child == block->bodyA);
            numberLink(reduced, link);
            hasGrown = true;
        }
    }
}

static void addFreeLink(rbReduced* reduced, const rbMechanism* mechanism, int body)
{
    rbReducedLink* link = addLink(reduced, mechanism, body, body);
    link->parent = -1;
    link->kind = RB_LINK_FREE;
    link->relative = RB_QUAT_IDENTITY;
    numberLink(reduced, link);
    // It moves relative to the world: the base with its own index is at the origin.
    reduced->bases[body].orientation = RB_QUAT_IDENTITY;
}

rbStatus rbReduced_BuildTree(rbReduced* reduced, const rbMechanism* mechanism, rbError* error)
{
    int joints = 0;
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        reduced->linkOfBody[i] = -1;
    }
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        if (block->kind != RB_ROW_HOLD) {
            reduced->hasSoftRows = true;
            continue;
        }
        bool isHolding =
            mechanism->bodies[block->bodyA].isDynamic || mechanism->bodies[block->bodyB].isDynamic;
        joints += isHolding ? 1 : 0;
        rbStatus status = checkBlock(block, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    growTree(reduced, mechanism);
    int freeCount = 0;
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        if (!isPlaced(reduced, mechanism, i)) {
            addFreeLink(reduced, mechanism, i);
            ++freeCount;
            growTree(reduced, mechanism);
        }
    }
    // Every joint of a forest leads to one link.
    if (joints != reduced->linkCount - freeCount) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the method \"reduced\" supports trees, but %d joints close loops; use "
                           "\"impulses\"",
                           joints - (reduced->linkCount - freeCount));
    }
    return RB_STATUS_OK;
}
