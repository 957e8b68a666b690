// The articulated-body algorithm (Featherstone): accelerations of a tree in linear time.
//
// World axes; motions and forces about the center of each link. With the acceleration of the parent
// shifted to the link, a = shift(a_parent) + c + S u', where c comes from the motion alone. A link
// with everything attached to it responds to an acceleration with the force I a + p. Inward, from
// the leaves: S^T (I a + p) = 0 gives u' in terms of the parent's acceleration; the remainder is
// added to the parent. Outward, from the bases: u' and a.
#include "lab/joints/reduced_state.h"

void rbReduced_SolveSmall(double* matrix, int n, double* x)
{
    RB_ASSERT(n >= 0 && n <= RB_LINK_SPEEDS_MAX);
    double pivots[RB_LINK_SPEEDS_MAX] = {0.0};
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            // Row i holds L_ij d_j here.
            double l = matrix[i * 6 + j] / pivots[j];
            for (int k = j + 1; k <= i; ++k) {
                matrix[i * 6 + k] -= l * matrix[k * 6 + j];
            }
            x[i] -= l * x[j];
        }
        pivots[i] = matrix[i * 6 + i];
        RB_ASSERT(!(pivots[i] <= 0.0));
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= matrix[k * 6 + i] * x[k];
        }
        x[i] /= pivots[i];
    }
}

static const rbReducedLink* getParent(const rbReduced* reduced, const rbReducedLink* link)
{
    return link->parent >= 0 ? &reduced->links[link->parent] : &reduced->bases[link->parentBody];
}

static rbVec3 getCentripetal(rbVec3 w, rbVec3 r)
{
    return rbCross(w, rbCross(w, r));
}

// c of a link: acceleration of its center and spin, without those of parent and speeds.
//   ball:      w = wp + u                    hinge:   w = wp + u a,  a turns with the parent
//   prismatic: the child's point runs along a, which turns with the parent
static rbSpatial getProduct(const rbReducedLink* link, const rbReducedLink* parent, const double* u)
{
    rbVec3 wp = parent->motion.w;
    rbSpatial product = {RB_VEC3_ZERO, RB_VEC3_ZERO};
    if (link->kind == RB_LINK_FREE) {
        return product;
    }
    product.v =
        rbAdd(getCentripetal(wp, link->toJoint), getCentripetal(link->motion.w, link->fromJoint));
    if (link->kind == RB_LINK_HINGE) {
        product.w = rbScale(u[0], rbCross(wp, link->axis));
        product.v = rbAdd(product.v, rbCross(product.w, link->fromJoint));
    } else if (link->kind == RB_LINK_PRISMATIC) {
        product.v = rbAddScaled(product.v, 2.0 * u[0], rbCross(wp, link->axis));
    }
    return product;
}

static void startLink(const rbReduced* reduced, rbReducedLink* link, const double* u)
{
    double m = link->mass;
    rbVec3 w = link->motion.w;
    rbVec3 momentum = rbMulSV(link->inertia, w);
    link->articulated.j = link->inertia;
    link->articulated.h = (rbMat3){RB_VEC3_ZERO, RB_VEC3_ZERO, RB_VEC3_ZERO};
    link->articulated.m = (rbSym3){m, m, m, 0.0, 0.0, 0.0};
    link->bias.w = rbSub(rbCross(w, momentum), link->load.w);
    link->bias.v = rbNeg(link->load.v);
    link->product = getProduct(link, getParent(reduced, link), &u[link->firstSpeed]);
}

// Eliminates the speeds of a link from its equations. The axes are made orthogonal with respect to
// the articulated inertia (Gram-Schmidt): S = Z L^T, Z^T I Z = D diagonal, so that every direction
// is eliminated by itself. response = I Z, push = -Z^T p, pivots = D^-1.
static void eliminate(rbReducedLink* link)
{
    for (int i = 0; i < link->speedCount; ++i) {
        rbSpatial z = link->axes[i];
        for (int k = 0; k < i; ++k) {
            double l = rbDotSpatial(link->axes[i], link->response[k]) * link->invPivots[k];
            link->mixing[i * 6 + k] = l;
            z = rbAddScaledSpatial(z, -l, link->ownAxes[k]);
        }
        link->ownAxes[i] = z;
        link->response[i] = rbMulSpatial(&link->articulated, z);
        link->push[i] = -rbDotSpatial(z, link->bias);
        double pivot = rbDotSpatial(z, link->response[i]);
        RB_ASSERT(!(pivot <= 0.0));
        link->invPivots[i] = 1.0 / pivot;
    }
}

// Adds the remainder of a link to its parent: with U = I Z, I - U D^-1 U^T as inertia and p + (I -
// U D^-1 U^T) c + U D^-1 push as force.
static void handOver(const rbReducedLink* link, rbReducedLink* parent)
{
    rbSpatialInertia left = link->articulated;
    rbSpatial force = link->bias;
    for (int i = 0; i < link->speedCount; ++i) {
        rbSubtractSquare(&left, link->invPivots[i], link->response[i]);
        force = rbAddScaledSpatial(force, link->invPivots[i] * link->push[i], link->response[i]);
    }
    force = rbAddSpatial(force, rbMulSpatial(&left, link->product));
    rbAddShiftedInertia(&parent->articulated, &left, link->fromParent);
    parent->bias = rbAddSpatial(parent->bias, rbShiftForce(force, link->fromParent));
}

// Accelerations of the speeds of a link; a is the acceleration without them; returns it with them.
static rbSpatial finishLink(const rbReducedLink* link, rbSpatial a, double* speeds)
{
    rbSpatial sum = a;
    for (int k = 0; k < link->speedCount; ++k) {
        speeds[k] = (link->push[k] - rbDotSpatial(link->response[k], a)) * link->invPivots[k];
        sum = rbAddScaledSpatial(sum, speeds[k], link->ownAxes[k]);
    }
    // Z y = S L^-T y.
    for (int k = link->speedCount - 1; k >= 0; --k) {
        for (int i = k + 1; i < link->speedCount; ++i) {
            speeds[k] -= link->mixing[i * 6 + k] * speeds[i];
        }
    }
    return sum;
}

void rbReduced_FindAccelerations(rbReduced* reduced, const double* u, double* accelerations)
{
    for (int i = 0; i < reduced->linkCount; ++i) {
        startLink(reduced, &reduced->links[i], u);
    }
    for (int i = reduced->linkCount - 1; i >= 0; --i) {
        rbReducedLink* link = &reduced->links[i];
        RB_ASSERT(link->parent < i);
        eliminate(link);
        if (link->parent >= 0) {
            handOver(link, &reduced->links[link->parent]);
        }
    }
    for (int i = 0; i < reduced->linkCount; ++i) {
        rbReducedLink* link = &reduced->links[i];
        const rbReducedLink* parent = getParent(reduced, link);
        rbSpatial a =
            rbAddSpatial(rbShiftMotion(parent->acceleration, link->fromParent), link->product);
        link->acceleration = finishLink(link, a, &accelerations[link->firstSpeed]);
    }
}
