/// @file
/// The impact of two bodies at one point, by a named law: stateless and pure, usable without a
/// world.
///
/// Conventions. The normal points from A to B; the impulse p acts on B, -p on A; the relative
/// velocity u is that of B's contact point minus A's. In the frame of a contact z is the normal, x
/// and y are tangents, so the bodies approach while u.z < 0, and p.z >= 0. An impact lasts no time:
/// the pose is constant and u = u0 + K p, with the collision matrix K.
///
/// Friction is Coulomb's: while the point slides, dp_t = -mu (u_t/|u_t|) dp_z; while it sticks,
/// |dp_t| <= mu dp_z. The laws differ in when the impact ends (see docs/modules/impact.md).
///
/// The default of both engines is Stronge's law. With friction it is the one whose restitution
/// keeps its meaning: the part e^2 of the energy stored in compression comes back, so that no
/// impact can create energy and e = 1 loses none in the normal direction. Poisson's law does not
/// create energy either, but e = 1 may lose some; Newton's may create it, which impacts then say.
#ifndef RATTLEBACK_IMPACT_H
#define RATTLEBACK_IMPACT_H

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// When an impact ends.
typedef enum rbImpactLaw {
    RB_IMPACT_NEWTON,  ///< ends when u.z = -e u0.z, exactly; may create energy with friction
    RB_IMPACT_POISSON, ///< ends when p.z = (1 + e) p.z at greatest compression
    RB_IMPACT_STRONGE, ///< ends when the normal work of restitution is -e^2 that of compression
    RB_IMPACT_LAW_COUNT
} rbImpactLaw;

RB_API const char* rbImpactLaw_Name(rbImpactLaw law);  ///< "newton", "poisson", "stronge"
RB_API rbImpactLaw rbImpactLaw_Find(const char* name); ///< RB_IMPACT_LAW_COUNT if unknown

/// Kinds of material that rbWorld_SetMaterialPair distinguishes.
#define RB_MATERIAL_KINDS_MAX 64

/// What happens between two kinds of material (rbMaterial.kind), instead of the combination rules.
typedef struct rbMaterialPair {
    double restitution; ///< 0..1
    double friction;    ///< >= 0
    rbImpactLaw law;    ///< RB_IMPACT_LAW_COUNT: the world's
} rbMaterialPair;

/// How the coefficients of two materials become those of the pair.
typedef enum rbCombineRule {
    RB_COMBINE_GEOMETRIC, ///< sqrt(a b): zero if either is zero
    RB_COMBINE_PRODUCT,   ///< a b
    RB_COMBINE_SUM,       ///< a + b
    RB_COMBINE_MEAN,      ///< (a + b) / 2
    RB_COMBINE_MIN,       ///< the smaller
    RB_COMBINE_MAX,       ///< the larger
    RB_COMBINE_COUNT
} rbCombineRule;

RB_API const char* rbCombineRule_Name(rbCombineRule rule); ///< "geometric", "product", "sum", ...
RB_API rbCombineRule rbCombineRule_Find(const char* name); ///< RB_COMBINE_COUNT if unknown
RB_API double rbCombineRule_Apply(rbCombineRule rule, double a, double b); ///< a, b >= 0
/// For restitution: the same, but at most 1, because more would create energy.
RB_API double rbCombineRestitution(rbCombineRule rule, double a, double b);

/// How the restitution of an impact follows from that of the materials. Registered laws are
/// numbered from RB_RESTITUTION_COUNT.
typedef enum rbRestitutionLaw {
    RB_RESTITUTION_CONSTANT, ///< that of the materials
    RB_RESTITUTION_COUNT
} rbRestitutionLaw;

RB_API const char* rbRestitutionLaw_Name(rbRestitutionLaw law); ///< "constant", ...
/// The law of a name; rbRestitutionLaw_GetCount() if it is unknown.
RB_API rbRestitutionLaw rbRestitutionLaw_Find(const char* name);
/// Number of laws, with the registered ones.
RB_API int rbRestitutionLaw_GetCount(void);

/// An impact, as a law of restitution sees it.
typedef struct rbRestitutionInput {
    double restitution; ///< of the two materials, > 0..1
    double speed;       ///< m/s, > 0: of the approach, along the normal
    double mass;        ///< kg, effective at the point along the normal: 1/K.zz
} rbRestitutionInput;

/// A law of restitution, such as one that falls with the speed. Works with every law of impact and
/// with both engines, also at stops of joints.
typedef struct rbRestitutionRow {
    const char* name; ///< in scenes, as event.restitution and contact.restitution: "viscoelastic"
    const char* meaning; ///< a sentence for users
    /// The restitution; what is outside 0..1 counts as the nearer end. Must be a pure function.
    double (*restitution)(const rbRestitutionInput* input);
} rbRestitutionRow;

/// Adds a law of restitution. The row is borrowed for the rest of the process. Call it from one
/// thread before the first world is created. INVALID for an incomplete row or a name that is empty
/// or taken, LIMIT if the table is full. error may be NULL.
RB_API rbStatus rbRegisterRestitution(const rbRestitutionRow* row, rbError* error);
/// The restitution of an impact by a law, 0..1; materials without restitution have none by any law.
RB_API double rbRestitutionLaw_Apply(rbRestitutionLaw law, const rbRestitutionInput* input);

/// An alternative method to integrate the sliding phase; lab_impact.h has one.
typedef struct rbSlideMethod rbSlideMethod;

/// One contact in its own frame.
typedef struct rbImpactInput {
    rbSym3 matrix;                    ///< K, 1/kg, positive definite
    rbVec3 velocity;                  ///< u before, m/s
    double restitution;               ///< e, 0..1 (microcollisions: more)
    double friction;                  ///< mu >= 0
    rbImpactLaw law;                  ///< when the impact ends
    const rbSlideMethod* slideMethod; ///< NULL: over the normal impulse (L-94), always valid
} rbImpactInput;

/// The phases of the contact point, in order: four bits per phase, the first in the lowest bits.
typedef enum rbImpactPhase {
    RB_PHASE_NONE,    ///< the end of the list
    RB_PHASE_SLIDE,   ///< sliding
    RB_PHASE_STICK,   ///< sticking to the end
    RB_PHASE_REVERSE, ///< sliding again after a stop, in the direction of L-92
    RB_PHASE_SMOOTH,  ///< no friction acts
    RB_PHASE_RETURN,  ///< microcollision: the velocity reversed (L-100)
    RB_PHASE_BOOST,   ///< microcollision: boosted restitution (L-99); sliding phases follow
    RB_PHASE_RAY,     ///< point and normal come from a ray, sampled; the other phases follow
    RB_PHASE_GAINS,   ///< at the end: the law itself raised the energy (Newton's)
    RB_PHASE_COUNT
} rbImpactPhase;

RB_API const char* rbImpactPhase_Name(rbImpactPhase phase); ///< "slide"; "" for none

#define RB_IMPACT_HISTORY_SIZE 80 ///< size of the text of any history
/// "slide, stick"; returns text.
RB_API const char* rbImpactHistory_Format(uint32_t history, char text[RB_IMPACT_HISTORY_SIZE]);

/// Result of one impact, in the contact frame.
typedef struct rbImpactResult {
    rbVec3 impulse;         ///< p on B, N s
    rbVec3 velocity;        ///< u after, m/s
    double normalWork;      ///< J, of the normal impulse, both phases
    double frictionWork;    ///< J, of the tangential impulse, <= 0 up to rounding
    double compressionWork; ///< J, normal work up to greatest compression, <= 0
    uint32_t history;       ///< phases
    int steps;              ///< of the integration; 0: closed form
    bool isJam;          ///< Painleve: sliding drives the bodies together (du.z/dp.z < 0 at first)
    bool isEnergyRaised; ///< by the law itself, beyond rounding (Newton only)
    bool isInaccurate;   ///< the integration missed its tolerance; impulse and velocity still agree
} rbImpactResult;

/// Resolves the impact at one contact. Bodies that do not approach (u.z >= 0) get no impulse. The
/// result satisfies |p_t| <= mu p_z and u = u0 + K p, to rounding.
RB_API void rbResolveImpact(const rbImpactInput* input, rbImpactResult* result);

/// A microcollision (L-99, L-100): lasting contact as a stream of tiny impacts. First tries to
/// reverse the velocity, which needs no energy and lets a block hold on a slope; if that impulse
/// leaves the friction cone but the point can stick, the tangential part is reversed as far as the
/// cone allows. If it must slide, the restitution is boosted to e + (boostMax - e) depth^2. A point
/// that slides into a jam (rbIsSlidingIntoJam) hits with its slip, not with its hop: that is an
/// impact by the law, neither reversed nor boosted. The normal speed afterward is at least
/// leastSpeed.
typedef struct rbMicrocollision {
    double depth;      ///< depth within the tolerance shell, 0 (at its rim) .. 1 (touching)
    double boostMax;   ///< 5 as specified
    double leastSpeed; ///< m/s, >= 0
} rbMicrocollision;

/// Resolves one microcollision; see rbMicrocollision.
RB_API void rbResolveMicrocollision(const rbImpactInput* input, const rbMicrocollision* micro,
                                    rbImpactResult* result);

/// The friction above which an impact that slides in the direction of u jams (Painleve): sliding
/// drives the bodies together. K33 / (K3t . u_t/|u_t|); INFINITY when that is not positive.
RB_API double rbGetJamThreshold(const rbImpactInput* input);
/// True when friction is above that threshold and the slip is faster than friction times speed: too
/// fast to have come from a hop that ends at this speed (m/s, >= 0), on any slope that friction
/// could hold.
RB_API bool rbIsSlidingIntoJam(const rbImpactInput* input, double speed);

// -------------------------------------------------------------------------- bodies in the world

/// A body as an impact sees it. Zero inverse mass and inertia: impulses do not move it.
typedef struct rbImpactBody {
    double inverseMass;     ///< 1/kg
    rbSym3 inverseInertia;  ///< 1/(kg m^2), world axes, about the center of mass
    rbVec3 center;          ///< m
    rbVec3 velocity;        ///< m/s, of the center
    rbVec3 angularVelocity; ///< rad/s, world axes
} rbImpactBody;

/// Collision frame (L-88): columns are two tangents and the normal, right-handed. The same normal
/// gives the same tangents, bit for bit.
RB_API rbMat3 rbMakeContactFrame(rbVec3 normal);
/// K in the contact frame (L-89) for a common world point.
RB_API rbSym3 rbMakeCollisionMatrix(const rbImpactBody* a, const rbImpactBody* b, rbVec3 point,
                                    const rbMat3* frame);
/// Velocity of B's material point relative to A's at a world point, world axes.
RB_API rbVec3 rbGetRelativeVelocity(const rbImpactBody* a, const rbImpactBody* b, rbVec3 point);
/// Applies p (world axes) to B and -p to A at a world point (L-97).
RB_API void rbApplyContactImpulse(rbImpactBody* a, rbImpactBody* b, rbVec3 point, rbVec3 impulse);
/// Kinetic energy of a body, J; 0 for a body of zero inverse mass.
RB_API double rbGetKineticEnergy(const rbImpactBody* body);

/// One of several contacts among bodies.
typedef struct rbImpactContact {
    int a;               ///< index into the bodies
    int b;               ///< index into the bodies
    rbVec3 point;        ///< m, world
    rbVec3 normal;       ///< unit, from A to B
    double restitution;  ///< e, 0..1
    double friction;     ///< mu >= 0
    rbImpactLaw law;     ///< when the impact ends
    rbVec3 impulse;      ///< out: on B, N s, world axes
    uint32_t history;    ///< out: phases of the last resolution
    double normalWork;   ///< out, J
    double frictionWork; ///< out, J
    bool isEnergyRaised; ///< out: by the law itself, beyond rounding (Newton's)
} rbImpactContact;

/// How several contacts at one instant are resolved.
typedef enum rbImpactOrder {
    RB_ORDER_SEQUENTIAL, ///< one after the other, the fastest approach first, until none approaches
    RB_ORDER_SIMULTANEOUS, ///< all at once: compression of all, then restitution by the laws;
                           ///< friction in the cone
    RB_ORDER_COUNT
} rbImpactOrder;

RB_API const char* rbImpactOrder_Name(rbImpactOrder order); ///< "sequential", "simultaneous"
/// RB_ORDER_COUNT if unknown.
RB_API rbImpactOrder rbImpactOrder_Find(const char* name);

/// How the impacts at several contacts were resolved.
typedef struct rbImpactsReport {
    int resolved;     ///< single impacts, or iterations
    double residual;  ///< m/s, largest approach speed left (sequential) or unmet condition
    bool isConverged; ///< true: the residual is within the tolerance
} rbImpactsReport;

/// Maximum number of contacts in one call of rbResolveImpacts.
#define RB_IMPACT_CONTACTS_MAX 256
/// Resolves the impacts at count contacts among bodies, in place. Allocates nothing; count is at
/// most RB_IMPACT_CONTACTS_MAX (asserted). Ties go to the lower index.
RB_API rbImpactsReport rbResolveImpacts(rbImpactBody* bodies, rbImpactContact* contacts, int count,
                                        rbImpactOrder order);

#ifdef __cplusplus
}
#endif

#endif
