// Elementary distances: closed forms, the cases where the printed algorithms fail, bad input.
#include "lab/bounds/facet.h"
#include "rb_test.h"

#include <math.h>

static void checkPoint(rbVec3 value, rbVec3 truth, double tolerance)
{
    checkNear(value.x, truth.x, tolerance);
    checkNear(value.y, truth.y, tolerance);
    checkNear(value.z, truth.z, tolerance);
}

static void checkParts(const rbClosest* closest, rbFigurePart a, rbFigurePart b)
{
    assert_int_equal(closest->partA.kind, a.kind);
    assert_int_equal(closest->partA.index, a.index);
    assert_int_equal(closest->partB.kind, b.kind);
    assert_int_equal(closest->partB.index, b.index);
}

#define VERTEX(i) ((rbFigurePart){RB_FIGURE_VERTEX, i})
#define EDGE(i) ((rbFigurePart){RB_FIGURE_EDGE, i})
#define FACE ((rbFigurePart){RB_FIGURE_FACE, 0})

// Polygon of the plane through corner 0 with the given normal.
static rbFacet facetOf(const rbVec3* corners, int count, rbVec3 normal)
{
    rbVec3 n = rbNormalize(normal);
    return (rbFacet){corners, count, n, rbDot(n, corners[0])};
}

// Crossed at right angles, heights 0 and 3: the common perpendicular joins (1,0,0) and (1,0,3).
// L-17, L-18
static void crossedEdgesAreJoinedByTheCommonPerpendicular(void** state)
{
    (void)state;
    rbVec3 a[2] = {{-1, 0, 0}, {4, 0, 0}};
    rbVec3 b[2] = {{1, -2, 3}, {1, 5, 3}};
    rbClosest closest = rbClosestOfEdges(a, b);
    checkNear(closest.squared, 9.0, 1e-15);
    checkPoint(closest.a, rbMakeVec3(1, 0, 0), 1e-15);
    checkPoint(closest.b, rbMakeVec3(1, 0, 3), 1e-15);
    checkParts(&closest, EDGE(0), EDGE(0));
}

// Parallel edges: overlapping, meeting end to end, apart along their line; both directions.
// L-17, L-18
static void parallelEdgesOfAnyOverlapAreMeasured(void** state)
{
    (void)state;
    const double starts[] = {-5, -3, -2, -1, 0, 0.5, 1, 2, 3, 5};
    rbVec3 a[2] = {{0, 0, 0}, {1, 0, 0}};
    for (int i = 0; i < 10; ++i) {
        for (int turn = 0; turn < 2; ++turn) {
            double from = starts[i];
            double to = from + 2.0;
            rbVec3 b[2] = {{turn == 0 ? from : to, 3, 4}, {turn == 0 ? to : from, 3, 4}};
            double along = fmax(fmax(from - 1.0, -to), 0.0);
            checkNear(rbClosestOfEdges(a, b).squared, 25.0 + along * along, 1e-14);
            b[0].y = b[1].y = b[0].z = b[1].z = 0.0;
            checkNear(rbClosestOfEdges(a, b).squared, along * along, 1e-14);
        }
    }
}

// L-18, L-19
static void edgesWithoutLengthArePoints(void** state)
{
    (void)state;
    rbVec3 point[2] = {{1, 2, 0}, {1, 2, 0}};
    rbVec3 edge[2] = {{-4, 0, 0}, {4, 0, 0}};
    rbClosest closest = rbClosestOfEdges(point, edge);
    checkNear(closest.squared, 4.0, 1e-15);
    checkParts(&closest, VERTEX(0), EDGE(0));
    closest = rbClosestOfEdges(edge, point);
    checkNear(closest.squared, 4.0, 1e-15);
    checkParts(&closest, EDGE(0), VERTEX(0));
    checkNear(rbClosestOfEdges(point, point).squared, 0.0, 0.0);
    checkNear(rbClosestOfPointEdge(edge[0], point).squared, 29.0, 1e-14);
}

// The form |p-a|^2 - mu W loses 1e-18 next to 1e6: d^2 must come from the difference.
// L-19
static void pointNextToALongEdgeKeepsItsDigits(void** state)
{
    (void)state;
    rbVec3 edge[2] = {{-500, -300, 0}, {700, 400, 0}};
    rbVec3 point = rbMakeVec3(-500 + 0.375 * 1200, -300 + 0.375 * 700, 1e-9);
    rbClosest closest = rbClosestOfPointEdge(point, edge);
    checkRelative(sqrt(closest.squared), 1e-9, 1e-12);
    checkParts(&closest, VERTEX(0), EDGE(0));
    rbVec3 fromStart = rbSub(point, edge[0]);
    rbVec3 along = rbSub(edge[1], edge[0]);
    double way = rbDot(fromStart, along);
    double printed = rbLengthSquared(fromStart) - way / rbLengthSquared(along) * way;
    assert_true(fabs(sqrt(fabs(printed)) - 1e-9) > 1e-12 * 1e-9);
}

// L-19
static void pointBeyondTheEndsIsMeasuredToThem(void** state)
{
    (void)state;
    rbVec3 edge[2] = {{0, 0, 0}, {2, 0, 0}};
    rbClosest closest = rbClosestOfPointEdge(rbMakeVec3(-3, 4, 0), edge);
    checkNear(closest.squared, 25.0, 0.0);
    checkParts(&closest, VERTEX(0), VERTEX(0));
    closest = rbClosestOfPointEdge(rbMakeVec3(2, 1, 0), edge);
    checkNear(closest.squared, 1.0, 0.0);
    checkParts(&closest, VERTEX(0), VERTEX(1));
}

// A U of width 3: the notch x in (1,2), y > 1 is outside; rays from it pass through corners.
static const rbVec3 letterU[8] = {{0, 0, 1}, {3, 0, 1}, {3, 3, 1}, {2, 3, 1},
                                  {2, 1, 1}, {1, 1, 1}, {1, 3, 1}, {0, 3, 1}};

// L-21
static void notchOfThePolygonIsOutside(void** state)
{
    (void)state;
    rbFacet facet = facetOf(letterU, 8, rbMakeVec3(0, 0, 1));
    for (int y = 1; y < 12; ++y) {
        for (int x = -3; x < 15; ++x) {
            rbVec3 p = rbMakeVec3(0.25 * x + 0.125, 0.25 * y + 0.125, 1);
            bool isInside = p.x > 0 && p.x < 3 && p.y < 3 && !(p.x > 1 && p.x < 2 && p.y > 1);
            assert_int_equal(rbFacet_Contains(&facet, p), isInside);
        }
    }
    // at the height of corners
    assert_false(rbFacet_Contains(&facet, rbMakeVec3(-1, 0, 1)));
    assert_false(rbFacet_Contains(&facet, rbMakeVec3(-1, 1, 1)));
    assert_false(rbFacet_Contains(&facet, rbMakeVec3(-1, 3, 1)));
    assert_true(rbFacet_Contains(&facet, rbMakeVec3(0.5, 1, 1)));
    assert_true(rbFacet_Contains(&facet, rbMakeVec3(2.5, 1, 1)));
}

// L-20, L-22, L-23
static void pointAndEdgeSeeTheNotch(void** state)
{
    (void)state;
    rbFacet facet = facetOf(letterU, 8, rbMakeVec3(0, 0, 1));
    rbClosest closest = rbClosestOfPointFacet(rbMakeVec3(0.5, 2, 4), &facet);
    checkNear(closest.squared, 9.0, 1e-15);
    checkPoint(closest.b, rbMakeVec3(0.5, 2, 1), 1e-15);
    checkParts(&closest, VERTEX(0), FACE);
    closest = rbClosestOfPointFacet(rbMakeVec3(1.25, 2, 1), &facet);
    checkNear(closest.squared, 0.0625, 1e-15);
    checkParts(&closest, VERTEX(0), EDGE(5));
    rbVec3 through[2] = {{1.5, 2, 0}, {1.5, 2, 2}};
    rbVec3 point;
    assert_false(rbFacet_CutEdge(&facet, through, &point));
    closest = rbClosestOfEdgeFacet(through, &facet);
    checkNear(closest.squared, 0.25, 1e-15);
    through[0].x = through[1].x = 2.5;
    assert_true(rbFacet_CutEdge(&facet, through, &point));
    checkPoint(point, rbMakeVec3(2.5, 2, 1), 1e-15);
    closest = rbClosestOfEdgeFacet(through, &facet);
    checkNear(closest.squared, 0.0, 0.0);
    checkParts(&closest, EDGE(0), FACE);
    rbVec3 above[2] = {{2.5, 2, 2}, {2.5, 2, 3}};
    assert_false(rbFacet_CutEdge(&facet, above, &point));
    checkNear(rbClosestOfEdgeFacet(above, &facet).squared, 1.0, 1e-15);
}

// A vertex of a triangle points down at the middle of a square, for each of the three vertices. The
// printed sequence of flags skips some of the vertices.
// U-5, L-25, L-26
static void vertexOverASquareIsNotMissed(void** state)
{
    (void)state;
    rbVec3 square[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    rbFacet a = facetOf(square, 4, rbMakeVec3(0, 0, 1));
    for (int turn = 0; turn < 3; ++turn) {
        rbVec3 triangle[3];
        triangle[turn] = rbMakeVec3(0.1, 0.2, 0.5);
        triangle[(turn + 1) % 3] = rbMakeVec3(3, 0.2, 4);
        triangle[(turn + 2) % 3] = rbMakeVec3(-3, 0.2, 4);
        rbFacet b = facetOf(triangle, 3, rbMakeVec3(0, 1, 0));
        rbClosest closest = rbClosestOfFacets(&a, &b);
        checkNear(closest.squared, 0.25, 1e-15);
        checkPoint(closest.a, rbMakeVec3(0.1, 0.2, 0), 1e-15);
        checkParts(&closest, FACE, VERTEX(turn));
        closest = rbClosestOfFacets(&b, &a);
        checkNear(closest.squared, 0.25, 1e-15);
        checkParts(&closest, VERTEX(turn), FACE);
    }
}

// L-26
static void facesThatMeetHaveACommonPoint(void** state)
{
    (void)state;
    rbVec3 square[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    rbVec3 upright[4] = {{0.25, -0.5, -1}, {0.25, -0.5, 1}, {0.25, 0.5, 1}, {0.25, 0.5, -1}};
    rbFacet a = facetOf(square, 4, rbMakeVec3(0, 0, 1));
    rbFacet b = facetOf(upright, 4, rbMakeVec3(1, 0, 0));
    rbClosest closest = rbClosestOfFacets(&a, &b);
    checkNear(closest.squared, 0.0, 0.0);
    checkNear(closest.a.z, 0.0, 0.0);
    checkNear(closest.a.x, 0.25, 0.0);
    // one inside the other in the same plane, without crossing edges
    rbVec3 small[3] = {{-0.1, -0.1, 0}, {0.1, -0.1, 0}, {0, 0.1, 0}};
    rbFacet c = facetOf(small, 3, rbMakeVec3(0, 0, -1));
    checkNear(rbClosestOfFacets(&a, &c).squared, 0.0, 0.0);
    checkNear(rbClosestOfFacets(&c, &a).squared, 0.0, 0.0);
    // overlapping in the same plane
    rbVec3 across[4] = {{-2, -0.5, 0}, {2, -0.5, 0}, {2, 0.5, 0}, {-2, 0.5, 0}};
    rbFacet d = facetOf(across, 4, rbMakeVec3(0, 0, 1));
    checkNear(rbClosestOfFacets(&a, &d).squared, 0.0, 0.0);
    // a small one in the notch of the U touches nothing
    rbVec3 inNotch[3] = {{1.25, 2, 1}, {1.75, 2, 1}, {1.5, 2.5, 1}};
    rbFacet u = facetOf(letterU, 8, rbMakeVec3(0, 0, 1));
    rbFacet e = facetOf(inNotch, 3, rbMakeVec3(0, 0, 1));
    checkNear(rbClosestOfFacets(&u, &e).squared, 0.0625, 1e-15);
}

// A comb of 4000 corners; the tip of a triangle hangs between two of its teeth.
// L-26
static void polygonOfThousandsOfCornersIsMeasured(void** state)
{
    (void)state;
    enum {
        TEETH = 2000,
        COUNT = 2 * TEETH + 2
    };
    static rbVec3 comb[COUNT];
    for (int i = 0; i < TEETH; ++i) {
        rbVec3* tooth = comb + (size_t)i * 2;
        tooth[0] = rbMakeVec3(i, 0, 0);
        tooth[1] = rbMakeVec3(i + 0.5, 10, 0);
    }
    comb[COUNT - 2] = rbMakeVec3(TEETH, -1, 0);
    comb[COUNT - 1] = rbMakeVec3(0, -1, 0);
    rbFacet a = facetOf(comb, COUNT, rbMakeVec3(0, 0, -1));
    rbVec3 tip[3] = {{699.875, 8, 0}, {699.875, 9, 5}, {699.875, 12, 5}};
    rbFacet b = facetOf(tip, 3, rbMakeVec3(1, 0, 0));
    // 0.275 from the flank from (699.5, 10) to (700, 0)
    rbClosest closest = rbClosestOfFacets(&a, &b);
    checkRelative(sqrt(closest.squared), 2.75 / sqrt(100.25), 1e-12);
    checkParts(&closest, EDGE(2 * 699 + 1), VERTEX(0));
}

// Every combination of features of two triangles, by hand.
// L-14
static void partsOfTrianglesAreNamed(void** state)
{
    (void)state;
    rbVec3 a[3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    rbVec3 over[3] = {{5, 5, 3}, {1, 1, 2}, {-5, 6, 3}};
    rbClosest closest = rbClosestOfTriangles(a, over, INFINITY);
    checkNear(closest.squared, 4.0, 1e-15);
    checkPoint(closest.a, rbMakeVec3(1, 1, 0), 1e-15);
    checkParts(&closest, FACE, VERTEX(1));
    closest = rbClosestOfTriangles(over, a, INFINITY);
    checkParts(&closest, VERTEX(1), FACE);
    rbVec3 beside[3] = {{2, -3, -1}, {2, -3, 1}, {2, -9, 0}};
    closest = rbClosestOfTriangles(a, beside, INFINITY);
    checkNear(closest.squared, 9.0, 1e-15);
    checkParts(&closest, EDGE(0), EDGE(0));
    rbVec3 corner[3] = {{-3, -4, 0}, {-5, -9, 1}, {-5, -9, -1}};
    closest = rbClosestOfTriangles(a, corner, INFINITY);
    checkNear(closest.squared, 25.0, 1e-15);
    checkParts(&closest, VERTEX(0), VERTEX(0));
    rbVec3 through[3] = {{1, 1, -1}, {1, 1, 1}, {9, 9, 0.5}};
    closest = rbClosestOfTriangles(a, through, INFINITY);
    checkNear(closest.squared, 0.0, 0.0);
    checkNear(closest.a.z, 0.0, 1e-15);
    checkPoint(closest.b, closest.a, 0.0);
}

// L-14
static void trianglesWithoutAreaCountAsWhatTheyAre(void** state)
{
    (void)state;
    rbVec3 face[3] = {{-2, -2, 0}, {2, -2, 0}, {0, 2, 0}};
    rbVec3 pin[3] = {{0, 0, -1}, {0, 0, 3}, {0, 0, 1}};
    rbVec3 point[3] = {{0, 0, 2}, {0, 0, 2}, {0, 0, 2}};
    checkNear(rbClosestOfTriangles(face, pin, INFINITY).squared, 0.0, 0.0);
    checkNear(rbClosestOfTriangles(pin, face, INFINITY).squared, 0.0, 0.0);
    checkNear(rbClosestOfTriangles(face, point, INFINITY).squared, 4.0, 0.0);
    checkNear(rbClosestOfTriangles(point, face, INFINITY).squared, 4.0, 0.0);
    checkNear(rbClosestOfTriangles(point, point, INFINITY).squared, 0.0, 0.0);
    checkNear(rbClosestOfTriangles(pin, point, INFINITY).squared, 0.0, 0.0);
    checkNear(rbClosestOfPointTriangle(point[0], pin).squared, 0.0, 0.0);
    checkNear(rbClosestOfPointTriangle(face[2], point).squared, 8.0, 0.0);
}

// L-14
static void trianglesBeyondTheLimitAreGivenUp(void** state)
{
    (void)state;
    rbVec3 a[3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    rbVec3 b[3] = {{0, 0, 2}, {4, 0, 2}, {0, 4, 3}};
    assert_true(rbClosestOfTriangles(a, b, 3.9).squared == INFINITY);
    checkNear(rbClosestOfTriangles(a, b, 4.1).squared, 4.0, 0.0);
    checkNear(rbClosestOfTriangles(a, b, INFINITY).squared, 4.0, 0.0);
    // identical ones are below every limit
    checkNear(rbClosestOfTriangles(a, a, 1e-300).squared, 0.0, 0.0);
}

RB_TEST_GROUP(test_closest, cmocka_unit_test(crossedEdgesAreJoinedByTheCommonPerpendicular),
              cmocka_unit_test(parallelEdgesOfAnyOverlapAreMeasured),
              cmocka_unit_test(edgesWithoutLengthArePoints),
              cmocka_unit_test(pointNextToALongEdgeKeepsItsDigits),
              cmocka_unit_test(pointBeyondTheEndsIsMeasuredToThem),
              cmocka_unit_test(notchOfThePolygonIsOutside),
              cmocka_unit_test(pointAndEdgeSeeTheNotch),
              cmocka_unit_test(vertexOverASquareIsNotMissed),
              cmocka_unit_test(facesThatMeetHaveACommonPoint),
              cmocka_unit_test(polygonOfThousandsOfCornersIsMeasured),
              cmocka_unit_test(partsOfTrianglesAreNamed),
              cmocka_unit_test(trianglesWithoutAreaCountAsWhatTheyAre),
              cmocka_unit_test(trianglesBeyondTheLimitAreGivenUp));
