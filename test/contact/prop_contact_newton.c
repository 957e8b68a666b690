// Islands solved as a whole: the sparse matrix, Coulomb's conditions at the end, joints among the
// contacts.
#include "dynamics/contact/contact_newton.h"
#include "dynamics/solvers/block_matrix.h"
#include "random_island.h"
#include "rb_test.h"

#define MATRICES 300
#define MATRICES_FULL 30000
#define ISLANDS 400
#define ISLANDS_FULL 40000
#define BLOCKS_MAX 14
#define ROWS_MAX (RB_BLOCK * BLOCKS_MAX)
#define TOLERANCE 1e-8

static SolverScene scene;

static void anyRow(rbRandom* random, double row[12])
{
    for (int k = 0; k < 12; ++k) {
        row[k] = rbRandom_Symmetric(random);
    }
}

// Adds factor * g h^T to a full matrix.
static void addDense(double (*a)[ROWS_MAX], const int blocks[2], const double g[12],
                     const double h[12], double factor)
{
    for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
            int row = RB_BLOCK * blocks[i / 6] + i % 6;
            int column = RB_BLOCK * blocks[j / 6] + j % 6;
            if (blocks[i / 6] >= 0 && blocks[j / 6] >= 0) {
                a[row][column] += factor * g[i] * h[j];
            }
        }
    }
}

// Symmetric matrices, and matrices with only a symmetric pattern.
static void matricesOfBlocksAreSolved(void** state)
{
    (void)state;
    static double dense[ROWS_MAX][ROWS_MAX];
    rbRandom random = {rbTest_Seed(0x9f0f11e)};
    rbBlockMatrix matrix = {0};
    int count = rbTest_Count(MATRICES, MATRICES_FULL);
    for (int round = 0; round < count; ++round) {
        int blocks = 1 + rbRandom_Index(&random, BLOCKS_MAX);
        int pairs[20][2];
        int n = RB_BLOCK * blocks;
        rbBlockMatrix_Begin(&matrix, blocks);
        for (int i = 0; i < 20; ++i) {
            pairs[i][0] = rbRandom_Index(&random, blocks + 1) - 1;
            pairs[i][1] = rbRandom_Index(&random, blocks + 1) - 1;
            pairs[i][1] = pairs[i][1] == pairs[i][0] ? -1 : pairs[i][1];
            rbBlockMatrix_Couple(&matrix, pairs[i][0], pairs[i][1]);
        }
        rbBlockMatrix_Finish(&matrix);
        memset(dense, 0, sizeof dense);
        rbBlockMatrix_Clear(&matrix);
        for (int i = 0; i < n; ++i) {
            rbBlockMatrix_GetDiagonal(
                &matrix, i / RB_BLOCK)[(size_t)(RB_BLOCK + 1) * (size_t)(i % RB_BLOCK)] = 1.0;
            dense[i][i] = 1.0;
        }
        double g[12];
        double h[12];
        for (int i = 0; i < 15; ++i) {
            anyRow(&random, g);
            rbBlockMatrix_AddSquare(&matrix, pairs[i], g, 3.0);
            addDense(dense, pairs[i], g, g, 3.0);
        }
        bool isSplit = round % 2 == 1;
        if (isSplit) {
            rbBlockMatrix_Split(&matrix);
        }
        for (int i = 15; isSplit && i < 20; ++i) {
            anyRow(&random, g);
            anyRow(&random, h);
            // small enough to stay regular
            rbBlockMatrix_AddProduct(&matrix, pairs[i], g, h, 0.02);
            addDense(dense, pairs[i], g, h, 0.02);
        }
        double right[ROWS_MAX];
        double x[ROWS_MAX];
        for (int i = 0; i < n; ++i) {
            right[i] = rbRandom_Symmetric(&random);
            x[i] = right[i];
        }
        assert_true(rbBlockMatrix_Factor(&matrix));
        rbBlockMatrix_Solve(&matrix, x);
        for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int k = 0; k < n; ++k) {
                sum += dense[i][k] * x[k];
            }
            // condition up to 1e3
            checkNear(sum, right[i], 1e-11);
        }
    }
    rbBlockMatrix_Free(&matrix);
}

// Violation of Coulomb's law by a point in a velocity stage, m/s.
static double breachOf(const rbContact* contact, const rbContactPoint* point)
{
    rbVec3 u = rbContact_RelativeVelocity(scene.bodies, contact, point);
    const double* p = point->impulse;
    double normal = rbDot(u, contact->normal);
    double t[2] = {rbDot(u, contact->tangents[0]), rbDot(u, contact->tangents[1])};
    double speed = sqrt(t[0] * t[0] + t[1] * t[1]);
    double friction = sqrt(p[1] * p[1] + p[2] * p[2]);
    double breach = p[0] > 0.0 ? fabs(normal) : -normal;
    bool isOnRim = friction >= contact->friction * p[0] - 1e-6 * (1.0 + p[0]);
    if (p[0] > 0.0 && !isOnRim) {
        breach = fmax(breach, speed);
    }
    // Friction opposes the sliding: checks the component across it, of the speed or of the impulse
    // (1 kg or so).
    if (speed > 0.0 && friction > 0.0) {
        double along = t[0] * p[1] + t[1] * p[2];
        double across = fabs(t[0] * p[2] - t[1] * p[1]) / (speed * friction);
        breach = fmax(breach, fmin(speed, friction) * (along > 0.0 ? 1.0 : across));
    }
    return breach;
}

// Random rows between bodies of an island.
static int addLinks(rbRandom* random, rbContactLink* links, int most)
{
    int count = rbRandom_Index(random, most + 1);
    for (int i = 0; i < count; ++i) {
        links[i] = (rbContactLink){.bodyA = -1 + rbRandom_Index(random, scene.bodyCount + 1),
                                   .bodyB = 1 + rbRandom_Index(random, scene.bodyCount - 1),
                                   .bias = 0.3 * rbRandom_Symmetric(random),
                                   .most = i % 3 == 0 ? 0.5 : INFINITY};
        links[i].bodyA = links[i].bodyA == links[i].bodyB ? -1 : links[i].bodyA;
        anyRow(random, links[i].row);
    }
    return count;
}

static double rateOf(const rbContactLink* link)
{
    const int hosts[2] = {link->bodyA, link->bodyB};
    double sum = link->bias;
    for (int side = 0; side < 2; ++side) {
        if (hosts[side] > 0) {
            const rbContactBody* body = &scene.bodies[hosts[side]];
            const double* r = link->row + 6 * (size_t)side;
            sum += r[0] * body->velocity.x + r[1] * body->velocity.y + r[2] * body->velocity.z +
                   r[3] * body->spin.x + r[4] * body->spin.y + r[5] * body->spin.z;
        }
    }
    return sum;
}

// Contacts in random directions sometimes have no solution; if the solver reports one, it is
// correct.
// B-79, B-80
static void whatItCallsSolvedObeysCoulombAndJoints(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x9e374)};
    rbContactNewton* newton = rbCreateContactNewton();
    int count = rbTest_Count(ISLANDS, ISLANDS_FULL);
    int met = 0;
    for (int i = 0; i < count; ++i) {
        rbContactLink links[4];
        makeIsland(&scene, &random, true);
        rbNewtonTask task = {.tolerance = TOLERANCE, .known = INFINITY, .links = links};
        task.linkCount = i % 2 == 0 ? 0 : addLinks(&random, links, 4);
        rbContactRun run = sceneRun(&scene, 0.01);
        run.orderCount = scene.set.contactCount;
        int rounds = 0;
        if (scene.set.contactCount == 0) {
            continue;
        }
        double left = rbContactNewton_Solve(newton, &run, &task, &rounds);
        assert_true(rounds > 0);
        checkCones(&scene, 1e-12);
        if (left > TOLERANCE) {
            continue;
        }
        ++met;
        for (int k = 0; k < scene.set.contactCount; ++k) {
            const rbContact* contact = &scene.contacts[k];
            for (int p = 0; p < contact->pointCount; ++p) {
                // impulses of up to 1e2 N s, known to rounding times r
                checkBelow(breachOf(contact, &scene.points[contact->firstPoint + p]), 1e-6);
            }
        }
        for (int k = 0; k < task.linkCount; ++k) {
            double rate = rateOf(&links[k]);
            bool isHeld = fabs(links[k].impulse) >= links[k].most && rate * links[k].impulse <= 0.0;
            assert_true(fabs(links[k].impulse) <= links[k].most);
            checkBelow(isHeld ? 0.0 : fabs(rate), 1e-6);
        }
    }
    print_message("%d of %d islands met\n", met, count);
    assert_true(met > count * 9 / 10);
    rbDestroyContactNewton(newton);
}

// Sweeps and Newton's method in turn: what it calls solved obeys Coulomb's law, and impulses are in
// their cones whether it is solved or not.
// B-75, B-76
static void sweepsAndNewtonInTurnObeyCoulomb(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x4b1d)};
    rbContactNewton* newton = rbCreateContactNewton();
    int count = rbTest_Count(ISLANDS, ISLANDS_FULL);
    int tried = 0;
    int met = 0;
    for (int i = 0; i < count; ++i) {
        makeIsland(&scene, &random, true);
        rbNewtonTask task = {.tolerance = TOLERANCE, .known = INFINITY};
        rbContactRun run = sceneRun(&scene, 0.01);
        run.orderCount = scene.set.contactCount;
        run.isContinued = true;
        int rounds = 0;
        if (scene.set.contactCount == 0) {
            continue;
        }
        ++tried;
        double left = rbContactNewton_SolveInTurn(newton, &run, &task, &rounds);
        checkCones(&scene, 1e-12);
        if (left > TOLERANCE) {
            continue;
        }
        ++met;
        for (int k = 0; k < scene.set.contactCount; ++k) {
            const rbContact* contact = &scene.contacts[k];
            for (int p = 0; p < contact->pointCount; ++p) {
                checkBelow(breachOf(contact, &scene.points[contact->firstPoint + p]), 1e-6);
            }
        }
    }
    print_message("%d of %d islands met\n", met, tried);
    assert_true(met > tried * 3 / 4);
    rbDestroyContactNewton(newton);
}

RB_TEST_GROUP(prop_contact_newton, cmocka_unit_test(matricesOfBlocksAreSolved),
              cmocka_unit_test(whatItCallsSolvedObeysCoulombAndJoints),
              cmocka_unit_test(sweepsAndNewtonInTurnObeyCoulomb));
