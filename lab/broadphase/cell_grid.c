// Cells in an array (L-84, G-04, with an array in place of the hash): for many boxes of similar
// sizes that fill their space, as a gas does.
//
// Levels of cells by the size of boxes as in hash_grid.c, and a box lives in one cell of its level,
// that of its lower corner. The cells of a level repeat: along an axis with a period they fill it
// once, so that one query finds boxes across its ends; along others, cells far apart share a place
// of the array, and the comparison of boxes sorts them out. A cell holds its boxes by four, as
// floats (rbFloatBox), side by side: four comparisons at once. Exact boxes are read only where
// floats are equal.
//
// Balls of about one size have cells of their own, by their centers: half as many balls as boxes
// overlap a ball, and corners of the block of cells around it are left out.
#include "base/math/matrix3.h"
#include "lab/broadphase/broad_rows.h"
#include "lab/broadphase/cell_levels.h"

#include <string.h>

#define LEVELS 12
#define FOUR 4
// Cells along an axis that one query visits at most; larger queries compare all boxes.
#define SPAN_MAX 64
// In a periodic space. Fewer would read more cells, more would compare more boxes.
#define BOXES_PER_CELL 2.5
// Cells are not narrower than this part of a box: more of them would be empty.
#define NARROW 0.4
// No level has more cells than this many per box, and this many more.
#define CELLS_PER_BOX 2.0
#define CELLS_LEAST 64.0
// Covers the rounding of cells and of moves by periods, as a part of widths and periods.
#define SLACK 1e-9
// In multiples of the boxes present: the choice of cells is reconsidered after this many moves.
#define MOVES_PER_CHOICE 64
// Where most boxes are balls, the cells of the others are as wide as if this part of all were
// boxes.
#define BOXES_LEAST 16
// The level of balls with cells of their own, after those of boxes.
#define BALLS LEVELS
// Distances of balls in floats are right to this part of the largest coordinate.
#define FLOAT_SLACK 0x1p-20
// Levels with more boxes than this do not fit into the cache: their cells are fetched ahead.
#define FETCH_COUNT 4000

// Up to four boxes of a cell: two cache lines.
typedef struct Group {
    float lower[3][FOUR];
    float upper[3][FOUR];
    int32_t ids[FOUR];
    int32_t count;
    int32_t next; // of the same cell, or of the free ones; RB_BROAD_NONE: the last
    int32_t pad[2];
} Group;
_Static_assert(sizeof(Group) == 128, "two cache lines");

// The same of balls: a cache line, and what is only read where balls are near.
typedef struct BallGroup {
    float center[3][FOUR];
    float reach[FOUR];
} BallGroup;
_Static_assert(sizeof(BallGroup) == 64, "a cache line");

typedef struct BallList {
    int32_t ids[FOUR];
    int32_t count, next;
} BallList;

typedef struct Level {
    int first;         // of its cells
    int size[3];       // cells along the axes
    double inverse[3]; // 1/m, of the width of cells
    double edgeMax;    // m, of boxes; of balls: of those present since the choice
    int count;         // boxes present
} Level;

// The location of a box.
typedef struct Home {
    int32_t cell; // RB_BROAD_NONE: with the giants
    int32_t group;
    int32_t place; // in the group; of a giant: in the list
    int32_t level;
} Home;

typedef struct CellGrid {
    double period[3]; // m, 0: none
    double base;      // m, the width of the finest cells that was chosen; 0: not yet
    int countAtChoice;
    int boxesAtChoice; // that are no balls, at least a part of all
    int64_t movesSinceChoice;
    Level levels[LEVELS + 1];
    int levelCount;
    Group* groups; // the first one of each cell, then the others
    int groupCapacity;
    int groupEnd;
    int freeGroup;
    BallGroup* balls; // the same of balls
    BallList* lists;
    int ballCapacity, listCapacity;
    int ballEnd;
    int freeBall;
    Home* homes; // by id
    int homeCapacity;
    rbIdList giants;
} CellGrid;

static void start(rbBroadPhase* broad, double cellSize)
{
    CellGrid* grid = broad->state;
    (void)cellSize; // chosen from the boxes
    grid->freeGroup = RB_BROAD_NONE;
    grid->freeBall = RB_BROAD_NONE;
}

static void stop(rbBroadPhase* broad)
{
    CellGrid* grid = broad->state;
    rbFree(grid->groups, (size_t)grid->groupCapacity * sizeof *grid->groups);
    rbFree(grid->balls, (size_t)grid->ballCapacity * sizeof *grid->balls);
    rbFree(grid->lists, (size_t)grid->listCapacity * sizeof *grid->lists);
    rbFree(grid->homes, (size_t)grid->homeCapacity * sizeof *grid->homes);
    rbIdList_Free(&grid->giants);
}

static void setPeriod(rbBroadPhase* broad, rbVec3 period)
{
    CellGrid* grid = broad->state;
    RB_ASSERT(broad->count == 0);
    grid->period[0] = period.x;
    grid->period[1] = period.y;
    grid->period[2] = period.z;
}

// ------------------------------------------------------------------------------------------- cells

// A cell along an axis, and the periods between it and its place in the array.
typedef struct Step {
    int cell;
    int64_t periods;
} Step;

static int64_t findCell(const CellGrid* grid, const Level* level, int axis, double x)
{
    return rbFindCell(x + 0.5 * grid->period[axis], level->inverse[axis]);
}

static inline Step wrapCell(const Level* level, int axis, int64_t cell)
{
    int64_t size = level->size[axis];
    int64_t periods = 0, left = cell;
    if (cell < 0 || cell >= size) {
        periods = cell / size - (cell % size < 0 ? 1 : 0);
        left = cell - periods * size;
    }
    return (Step){(int)left, periods};
}

// Lower and upper end of a box along an axis, moved back by some periods.
static inline void getEnds(const CellGrid* grid, const rbBounds* box, int axis, int64_t periods,
                           double ends[2])
{
    double shift = (double)periods * grid->period[axis];
    ends[0] = rbGetComponent(box->lower, axis) - shift;
    ends[1] = rbGetComponent(box->upper, axis) - shift;
}

static int findLevel(const CellGrid* grid, double edge)
{
    int level = 0;
    while (level < grid->levelCount && edge > grid->levels[level].edgeMax) {
        ++level;
    }
    return level;
}

static void emptyGroup(Group* group)
{
    for (int axis = 0; axis < 3; ++axis) {
        for (int k = 0; k < FOUR; ++k) {
            group->lower[axis][k] = (float)INFINITY; // apart from every query
            group->upper[axis][k] = -(float)INFINITY;
        }
    }
    group->count = 0;
    group->next = RB_BROAD_NONE;
}

static int takeGroup(CellGrid* grid)
{
    int g = grid->freeGroup;
    if (g != RB_BROAD_NONE) {
        grid->freeGroup = grid->groups[g].next;
    } else {
        g = grid->groupEnd++;
        grid->groups =
            rbGrowArray(grid->groups, &grid->groupCapacity, grid->groupEnd, sizeof *grid->groups);
    }
    emptyGroup(&grid->groups[g]);
    return g;
}

// ------------------------------------------------------------------------------------------- boxes

// The cell of a box on its level, and the ends of the box there.
static int findHome(const CellGrid* grid, const Level* level, const rbBounds* box,
                    double ends[3][2])
{
    int cell = 0;
    for (int axis = 2; axis >= 0; --axis) {
        double low = rbGetComponent(box->lower, axis);
        Step step = wrapCell(level, axis, findCell(grid, level, axis, low));
        getEnds(grid, box, axis, grid->period[axis] > 0.0 ? step.periods : 0, ends[axis]);
        cell = cell * level->size[axis] + step.cell;
    }
    return level->first + cell;
}

static void setPlace(Group* group, int place, double ends[3][2], int id)
{
    for (int axis = 0; axis < 3; ++axis) {
        group->lower[axis][place] = rbRoundCoordinate(ends[axis][0]);
        group->upper[axis][place] = rbRoundCoordinate(ends[axis][1]);
    }
    group->ids[place] = id;
}

static void attachGiant(CellGrid* grid, int id)
{
    grid->homes[id] = (Home){RB_BROAD_NONE, 0, grid->giants.count, 0};
    rbIdList_Push(&grid->giants, id);
}

// ------------------------------------------------------------------------------------------- balls

static void emptyBalls(CellGrid* grid, int g)
{
    for (int k = 0; k < FOUR; ++k) {
        grid->balls[g].center[0][k] = (float)INFINITY; // apart from every query
        grid->balls[g].center[1][k] = 0.0f;
        grid->balls[g].center[2][k] = 0.0f;
        grid->balls[g].reach[k] = 0.0f;
    }
    grid->lists[g].count = 0;
    grid->lists[g].next = RB_BROAD_NONE;
}

static void reserveBalls(CellGrid* grid, int end)
{
    grid->ballEnd = end;
    grid->balls = rbGrowArray(grid->balls, &grid->ballCapacity, end, sizeof *grid->balls);
    grid->lists = rbGrowArray(grid->lists, &grid->listCapacity, end, sizeof *grid->lists);
}

static int takeBalls(CellGrid* grid)
{
    int g = grid->freeBall;
    if (g != RB_BROAD_NONE) {
        grid->freeBall = grid->lists[g].next;
    } else {
        g = grid->ballEnd;
        reserveBalls(grid, g + 1);
    }
    emptyBalls(grid, g);
    return g;
}

// A ball that is not much larger than most boxes.
static bool hasBallCell(const rbBroadPhase* broad, int id)
{
    const CellGrid* grid = broad->state;
    return broad->isIn[id] == RB_BROAD_BALL &&
           rbGetLongestEdge(&broad->boxes[id]) <= 2.0 * grid->base;
}

// The cell of the center of a ball, and the center there.
static int findBallHome(const CellGrid* grid, const rbBounds* box, double center[3])
{
    const Level* level = &grid->levels[BALLS];
    int cell = 0;
    for (int axis = 2; axis >= 0; --axis) {
        double x = 0.5 * (rbGetComponent(box->lower, axis) + rbGetComponent(box->upper, axis));
        Step step = wrapCell(level, axis, findCell(grid, level, axis, x));
        center[axis] = x - (double)step.periods * grid->period[axis];
        cell = cell * level->size[axis] + step.cell;
    }
    return cell;
}

static void setBall(CellGrid* grid, int id, const double center[3], double edge)
{
    BallGroup* group = &grid->balls[grid->homes[id].group];
    int place = grid->homes[id].place;
    for (int axis = 0; axis < 3; ++axis) {
        group->center[axis][place] = (float)center[axis];
    }
    group->reach[place] = (float)(0.5 * edge);
    Level* level = &grid->levels[BALLS];
    level->edgeMax = edge > level->edgeMax ? edge : level->edgeMax;
}

static void attachBall(CellGrid* grid, int id, const rbBounds* box)
{
    double center[3];
    int cell = findBallHome(grid, box, center);
    int g = cell;
    while (grid->lists[g].count == FOUR) {
        if (grid->lists[g].next == RB_BROAD_NONE) {
            int added = takeBalls(grid); // may move the lists
            grid->lists[g].next = added;
        }
        g = grid->lists[g].next;
    }
    int place = grid->lists[g].count++;
    grid->lists[g].ids[place] = id;
    grid->homes[id] = (Home){cell, g, place, BALLS};
    setBall(grid, id, center, rbGetLongestEdge(box));
    ++grid->levels[BALLS].count;
}

// Fills the place with the last ball of the cell.
static void detachBall(CellGrid* grid, int id)
{
    Home home = grid->homes[id];
    int before = RB_BROAD_NONE, last = home.cell;
    while (grid->lists[last].next != RB_BROAD_NONE) {
        before = last;
        last = grid->lists[last].next;
    }
    BallGroup* from = &grid->balls[last];
    BallGroup* to = &grid->balls[home.group];
    int end = --grid->lists[last].count;
    RB_ASSERT(end >= 0);
    for (int axis = 0; axis < 3; ++axis) {
        to->center[axis][home.place] = from->center[axis][end];
    }
    to->reach[home.place] = from->reach[end];
    from->center[0][end] = (float)INFINITY;
    int moved = grid->lists[last].ids[end];
    grid->lists[home.group].ids[home.place] = moved;
    grid->homes[moved].group = home.group;
    grid->homes[moved].place = home.place;
    --grid->levels[BALLS].count;
    if (end == 0 && before != RB_BROAD_NONE) {
        grid->lists[before].next = RB_BROAD_NONE;
        grid->lists[last].next = grid->freeBall;
        grid->freeBall = last;
    }
}

// ------------------------------------------------------------------------------ boxes and balls

static void attach(rbBroadPhase* broad, int id)
{
    CellGrid* grid = broad->state;
    const rbBounds* box = &broad->boxes[id];
    if (hasBallCell(broad, id)) {
        attachBall(grid, id, box);
        return;
    }
    int l = findLevel(grid, rbGetLongestEdge(box));
    if (l == grid->levelCount) {
        attachGiant(grid, id);
        return;
    }
    double ends[3][2];
    Level* level = &grid->levels[l];
    int cell = findHome(grid, level, box, ends);
    int g = cell;
    while (grid->groups[g].count == FOUR) {
        if (grid->groups[g].next == RB_BROAD_NONE) {
            int added = takeGroup(grid); // may move the groups
            grid->groups[g].next = added;
        }
        g = grid->groups[g].next;
    }
    Group* group = &grid->groups[g];
    setPlace(group, group->count, ends, id);
    grid->homes[id] = (Home){cell, g, group->count, l};
    ++group->count;
    ++level->count;
}

// Fills the place with the last box of the cell.
static void detach(rbBroadPhase* broad, int id)
{
    CellGrid* grid = broad->state;
    Home home = grid->homes[id];
    if (home.cell == RB_BROAD_NONE) {
        int last = grid->giants.ids[--grid->giants.count];
        grid->giants.ids[home.place] = last;
        grid->homes[last].place = home.place;
        return;
    }
    if (home.level == BALLS) {
        detachBall(grid, id);
        return;
    }
    int before = RB_BROAD_NONE, last = home.cell;
    while (grid->groups[last].next != RB_BROAD_NONE) {
        before = last;
        last = grid->groups[last].next;
    }
    Group* from = &grid->groups[last];
    Group* to = &grid->groups[home.group];
    int end = --from->count;
    RB_ASSERT(end >= 0);
    for (int axis = 0; axis < 3; ++axis) {
        to->lower[axis][home.place] = from->lower[axis][end];
        to->upper[axis][home.place] = from->upper[axis][end];
        from->lower[axis][end] = (float)INFINITY;
        from->upper[axis][end] = -(float)INFINITY;
    }
    int moved = from->ids[end];
    to->ids[home.place] = moved;
    grid->homes[moved].group = home.group;
    grid->homes[moved].place = home.place;
    --grid->levels[home.level].count;
    if (end == 0 && before != RB_BROAD_NONE) {
        grid->groups[before].next = RB_BROAD_NONE;
        from->next = grid->freeGroup;
        grid->freeGroup = last;
    }
}

// --------------------------------------------------------------------------------- choice of cells

// How far boxes reach from the lowest to the highest corner; with a period, that.
static void findExtent(const rbBroadPhase* broad, double extent[3])
{
    const CellGrid* grid = broad->state;
    for (int axis = 0; axis < 3; ++axis) {
        double low = INFINITY, high = -INFINITY;
        for (int id = 0; id < broad->idEnd && !(grid->period[axis] > 0.0); ++id) {
            if (broad->isIn[id] != 0) {
                low = fmin(low, rbGetComponent(broad->boxes[id].lower, axis));
                high = fmax(high, rbGetComponent(broad->boxes[id].upper, axis));
            }
        }
        extent[axis] = grid->period[axis] > 0.0 ? grid->period[axis] : fmax(0.0, high - low);
    }
}

// Cells of about a width along the axes: no more than a number, or as many as fill the periods.
static int divide(const CellGrid* grid, const double extent[3], double width, Level* level,
                  double most)
{
    double counts[3], cells = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        counts[axis] = fmax(1.0, fmin(most, floor(extent[axis] / width + 0.5)));
        cells *= counts[axis];
    }
    while (cells > most) {
        int longest = counts[1] > counts[0] ? 1 : 0;
        longest = counts[2] > counts[longest] ? 2 : longest;
        double fewer = floor(0.5 * (counts[longest] + 1.0));
        cells *= fewer / counts[longest];
        counts[longest] = fewer;
    }
    for (int axis = 0; axis < 3; ++axis) {
        double period = grid->period[axis];
        level->size[axis] = (int)counts[axis];
        level->inverse[axis] = period > 0.0 ? counts[axis] / period : 1.0 / width;
    }
    return level->size[0] * level->size[1] * level->size[2];
}

// Cells of a width that hold BOXES_PER_CELL of the boxes on average in a periodic space.
static double chooseWidth(const CellGrid* grid, const double extent[3], double base, int boxes)
{
    if (!(grid->period[0] > 0.0 && grid->period[1] > 0.0 && grid->period[2] > 0.0)) {
        return base;
    }
    double share = BOXES_PER_CELL * extent[0] * extent[1] * extent[2] / (boxes + 1);
    double width = NARROW * base;
    while (width * width * width < share) {
        width *= 1.0 + 0x1p-4;
    }
    return width;
}

// Boxes that are no balls.
static int countBoxes(const rbBroadPhase* broad)
{
    int count = 0;
    for (int id = 0; id < broad->idEnd; ++id) {
        count += broad->isIn[id] == RB_BROAD_BOX ? 1 : 0;
    }
    return count;
}

static void makeLevels(rbBroadPhase* broad, double base)
{
    CellGrid* grid = broad->state;
    double extent[3];
    findExtent(broad, extent);
    double width = chooseWidth(grid, extent, base, broad->count);
    double most = CELLS_PER_BOX * broad->count + CELLS_LEAST;
    grid->levels[BALLS] = (Level){0};
    int cells = divide(grid, extent, width, &grid->levels[BALLS], most);
    int boxes = countBoxes(broad);
    grid->boxesAtChoice = boxes > broad->count / BOXES_LEAST ? boxes : broad->count / BOXES_LEAST;
    double least = chooseWidth(grid, extent, base, grid->boxesAtChoice);
    grid->freeBall = RB_BROAD_NONE;
    reserveBalls(grid, cells);
    for (int g = 0; g < cells; ++g) {
        emptyBalls(grid, g);
    }
    cells = 0;
    grid->levelCount = LEVELS;
    for (int l = 0; l < LEVELS; ++l) {
        Level* level = &grid->levels[l];
        *level = (Level){.first = cells, .edgeMax = base * rbPowerOfTwo(l)};
        cells += divide(grid, extent, fmax(least, width * rbPowerOfTwo(l)), level, most);
    }
    grid->base = base;
    grid->freeGroup = RB_BROAD_NONE;
    grid->groupEnd = cells;
    grid->groups = rbGrowArray(grid->groups, &grid->groupCapacity, cells, sizeof *grid->groups);
    for (int g = 0; g < cells; ++g) {
        emptyGroup(&grid->groups[g]);
    }
    grid->giants.count = 0;
    for (int id = 0; id < broad->idEnd; ++id) {
        if (broad->isIn[id] != 0) {
            attach(broad, id);
        }
    }
}

static void insert(rbBroadPhase* broad, int id)
{
    CellGrid* grid = broad->state;
    grid->homes = rbGrowArray(grid->homes, &grid->homeCapacity, broad->idEnd, sizeof *grid->homes);
    if (grid->base > 0.0 && broad->count <= 2 * grid->countAtChoice) {
        attach(broad, id);
        return;
    }
    grid->countAtChoice = broad->count;
    grid->movesSinceChoice = 0;
    double edge = rbFindCommonEdge(broad);
    makeLevels(broad, edge > 0.0 ? edge : 1.0);
}

static void moveBox(rbBroadPhase* broad, int id, const rbBounds* old)
{
    CellGrid* grid = broad->state;
    const rbBounds* box = &broad->boxes[id];
    (void)old;
    if (++grid->movesSinceChoice > (int64_t)MOVES_PER_CHOICE * (broad->count + 1)) {
        grid->movesSinceChoice = 0;
        double edge = rbFindCommonEdge(broad);
        // a width between half and twice the old one is not worth the work
        bool hasManyBoxes = broad->count - grid->levels[BALLS].count > 8 * grid->boxesAtChoice;
        if (edge > 0.0 && (edge > 2.0 * grid->base || edge < 0.5 * grid->base || hasManyBoxes)) {
            makeLevels(broad, edge);
            return;
        }
    }
    Home home = grid->homes[id];
    bool isBall = hasBallCell(broad, id);
    int l = isBall ? BALLS : findLevel(grid, rbGetLongestEdge(box));
    if (home.cell != RB_BROAD_NONE && l == home.level) {
        double ends[3][2], center[3];
        if (isBall && findBallHome(grid, box, center) == home.cell) {
            setBall(grid, id, center, rbGetLongestEdge(box));
            return;
        }
        if (!isBall && findHome(grid, &grid->levels[l], box, ends) == home.cell) {
            setPlace(&grid->groups[home.group], home.place, ends, id);
            return;
        }
    }
    detach(broad, id);
    attach(broad, id);
}

// ----------------------------------------------------------------------------------------- queries

// The cells of a query along an axis, and the ends of the query seen from there, four times.
typedef struct Span {
    int count;
    int cells[SPAN_MAX];
    rbQuad lower[SPAN_MAX], upper[SPAN_MAX];
} Span;

typedef struct Search {
    rbBroadPhase* broad;
    const rbBounds* box;
    rbIdList* found;
    int self;
    int64_t groups, cells; // compared and visited
    Span spans[3];
} Search;

// Whether the boxes overlap in one of the next images.
static bool doOverlap(const Search* search, int id)
{
    const CellGrid* grid = search->broad->state;
    bool areTogether = true;
    for (int axis = 0; axis < 3 && areTogether; ++axis) {
        double own[2], other[2];
        getEnds(grid, search->box, axis, 0, own);
        getEnds(grid, &search->broad->boxes[id], axis, 0, other);
        double period = grid->period[axis];
        double moved = period > 0.0 ? floor((own[0] - other[0]) / period + 0.5) * period : 0.0;
        areTogether = false;
        for (int k = -1; k <= 1; ++k) {
            double shift = moved + k * period;
            areTogether = areTogether || (own[0] <= other[1] + shift && other[0] + shift <= own[1]);
        }
    }
    return areTogether;
}

// False: too many cells.
static bool spanCells(const CellGrid* grid, const Level* level, const rbBounds* box, int axis,
                      Span* span)
{
    double period = grid->period[axis];
    double slack = SLACK * (level->edgeMax + period);
    double low = rbGetComponent(box->lower, axis) - level->edgeMax - slack;
    double high = rbGetComponent(box->upper, axis) + slack;
    int64_t first = findCell(grid, level, axis, low), last = findCell(grid, level, axis, high);
    if (!(period > 0.0) && last - first >= level->size[axis]) {
        first = 0;
        last = level->size[axis] - 1; // each place once
    }
    if (last - first >= SPAN_MAX) {
        return false;
    }
    span->count = (int)(last - first) + 1;
    for (int k = 0; k < span->count;) {
        Step step = wrapCell(level, axis, first + k);
        double ends[2];
        getEnds(grid, box, axis, period > 0.0 ? step.periods : 0, ends);
        float lower = rbRoundCoordinate(ends[0]), upper = rbRoundCoordinate(ends[1]);
        // on to the end of the array of cells, or of the span
        for (int c = step.cell; c < level->size[axis] && k < span->count; ++c, ++k) {
            span->cells[k] = c;
            span->lower[k] = (rbQuad){lower, lower, lower, lower};
            span->upper[k] = (rbQuad){upper, upper, upper, upper};
        }
    }
    return true;
}

// Ends of the query along the axes, seen from a cell, four times.
typedef struct Ends {
    rbQuad lower[3], upper[3];
} Ends;

// Which boxes of a group are not apart: bit by place.
static inline unsigned findNear(const Group* group, const Ends* ends)
{
    rbQuadMask apart = (rbQuad_Load(group->upper[0]) < ends->lower[0]) |
                       (rbQuad_Load(group->lower[0]) > ends->upper[0]) |
                       (rbQuad_Load(group->upper[1]) < ends->lower[1]) |
                       (rbQuad_Load(group->lower[1]) > ends->upper[1]) |
                       (rbQuad_Load(group->upper[2]) < ends->lower[2]) |
                       (rbQuad_Load(group->lower[2]) > ends->upper[2]);
    return rbQuadMask_Bits(apart) ^ 15u;
}

// Which boxes overlap for sure: the floats differ.
static inline unsigned findSure(const Group* group, const Ends* ends)
{
    rbQuadMask together = (rbQuad_Load(group->upper[0]) > ends->lower[0]) &
                          (rbQuad_Load(group->lower[0]) < ends->upper[0]) &
                          (rbQuad_Load(group->upper[1]) > ends->lower[1]) &
                          (rbQuad_Load(group->lower[1]) < ends->upper[1]) &
                          (rbQuad_Load(group->upper[2]) > ends->lower[2]) &
                          (rbQuad_Load(group->lower[2]) < ends->upper[2]);
    return rbQuadMask_Bits(together);
}

// Appends the boxes of a cell that overlap the query to a list with room for them; returns their
// end.
static inline int* testCell(Search* search, const Group* group, const Ends* ends, int* found)
{
    const CellGrid* grid = search->broad->state;
    for (;;) {
        ++search->groups;
        unsigned isNear = findNear(group, ends);
        if (isNear != 0) {
            unsigned isSure = findSure(group, ends);
            do {
                int k = __builtin_ctz(isNear);
                isNear &= isNear - 1;
                *found = group->ids[k];
                bool isFound = (isSure >> k & 1u) != 0 || doOverlap(search, *found);
                found += isFound && *found != search->self ? 1 : 0;
            } while (isNear != 0);
        }
        if (group->next == RB_BROAD_NONE) {
            return found;
        }
        group = &grid->groups[group->next];
    }
}

// Compares all boxes of a level.
static void scanLevel(Search* search, int level)
{
    const CellGrid* grid = search->broad->state;
    search->groups += search->broad->count / FOUR + 1;
    for (int id = 0; id < search->broad->idEnd; ++id) {
        if (search->broad->isIn[id] != 0 && id != search->self &&
            grid->homes[id].cell != RB_BROAD_NONE && grid->homes[id].level == level &&
            doOverlap(search, id)) {
            search->found->ids[search->found->count++] = id;
        }
    }
}

// gcc drops calls of a function that only prefetches, unless it is inlined.
static inline __attribute__((always_inline)) void fetchRow(const Search* search, const Level* level,
                                                           int y, int z)
{
    const CellGrid* grid = search->broad->state;
    int row =
        (search->spans[2].cells[z] * level->size[1] + search->spans[1].cells[y]) * level->size[0];
    for (int x = 0; x < search->spans[0].count; ++x) {
        const Group* group = &grid->groups[level->first + row + search->spans[0].cells[x]];
        __builtin_prefetch(group);
        __builtin_prefetch((const char*)group + 64);
    }
}

static void searchLevel(Search* search, int l)
{
    const CellGrid* grid = search->broad->state;
    const Level* level = &grid->levels[l];
    Span* spans = search->spans;
    rbIdList_Reserve(search->found, search->found->count + level->count + 1);
    for (int axis = 0; axis < 3; ++axis) {
        if (!spanCells(grid, level, search->box, axis, &spans[axis])) {
            scanLevel(search, l);
            return;
        }
    }
    int* found = search->found->ids + search->found->count;
    bool isLarge = level->count > FETCH_COUNT;
    for (int z = 0; z < spans[2].count && isLarge; ++z) {
        for (int y = 0; y < spans[1].count; ++y) {
            fetchRow(search, level, y, z);
        }
    }
    for (int z = 0; z < spans[2].count; ++z) {
        int plane = spans[2].cells[z] * level->size[1];
        for (int y = 0; y < spans[1].count; ++y) {
            int row = level->first + (plane + spans[1].cells[y]) * level->size[0];
            Ends ends = {{spans[0].lower[0], spans[1].lower[y], spans[2].lower[z]},
                         {spans[0].upper[0], spans[1].upper[y], spans[2].upper[z]}};
            for (int x = 0; x < spans[0].count; ++x) {
                const Group* group = &grid->groups[row + spans[0].cells[x]];
                ends.lower[0] = spans[0].lower[x];
                ends.upper[0] = spans[0].upper[x];
                found = group->count > 0 ? testCell(search, group, &ends, found) : found;
            }
        }
    }
    search->found->count = (int)(found - search->found->ids);
    search->cells += (int64_t)spans[0].count * spans[1].count * spans[2].count;
}

// ------------------------------------------------------------------------------ queries of balls

// The cells of a query along an axis, the middle of the query seen from there, and how far the
// cells are from it.
typedef struct BallSpan {
    int count;
    int cells[SPAN_MAX];
    rbQuad middles[SPAN_MAX];
    double gaps[SPAN_MAX]; // m^2
} BallSpan;

// A cell to be searched, and where it is in the spans.
typedef struct Visit {
    int cell;
    uint8_t places[4];
} Visit;

typedef struct BallSearch {
    Search* search;
    rbQuad half[3]; // m, of the query
    rbQuad more;    // covers the rounding of floats, m
    bool isBall;    // the query
    double most;    // m^2, between centers
    BallSpan spans[3];
    int visitCount;
    Visit visits[SPAN_MAX * SPAN_MAX];
} BallSearch;

// False: too many cells.
static bool spanBalls(BallSearch* search, int axis, double middle, double reach)
{
    const CellGrid* grid = search->search->broad->state;
    const Level* level = &grid->levels[BALLS];
    BallSpan* span = &search->spans[axis];
    double period = grid->period[axis], width = 1.0 / level->inverse[axis];
    int64_t first = findCell(grid, level, axis, middle - reach);
    int64_t last = findCell(grid, level, axis, middle + reach);
    bool isWhole = !(period > 0.0) && last - first >= level->size[axis];
    if (isWhole) {
        first = 0;
        last = level->size[axis] - 1; // each place once
    }
    if (last - first >= SPAN_MAX) {
        return false;
    }
    span->count = (int)(last - first) + 1;
    double low = (double)first * width - 0.5 * period; // of the cell
    bool isBlock = isWhole || !search->isBall;
    for (int k = 0; k < span->count; ++k) {
        Step step = wrapCell(level, axis, first + k);
        double above = low + k * width - middle, below = -above - width;
        double gap = above > below ? above : below;
        gap = gap > 0.0 && !isBlock ? gap : 0.0;
        float seen = (float)(middle - (double)step.periods * period);
        span->cells[k] = step.cell;
        span->middles[k] = (rbQuad){seen, seen, seen, seen};
        span->gaps[k] = gap * gap;
    }
    return true;
}

// Which balls of a group may overlap the query: bit by place.
static inline unsigned findNearBalls(const BallSearch* search, bool isBall, const BallGroup* group,
                                     const uint8_t places[3])
{
    rbQuad reach = rbQuad_Load(group->reach);
    rbQuad x = rbQuad_Load(group->center[0]) - search->spans[0].middles[places[0]];
    rbQuad y = rbQuad_Load(group->center[1]) - search->spans[1].middles[places[1]];
    rbQuad z = rbQuad_Load(group->center[2]) - search->spans[2].middles[places[2]];
    rbQuad most = search->half[0] + reach + search->more;
    if (isBall) {
        return rbQuadMask_Bits(x * x + y * y + z * z <= most * most);
    }
    return rbQuadMask_Bits((rbQuad_Abs(x) <= most) &
                           (rbQuad_Abs(y) <= search->half[1] + reach + search->more) &
                           (rbQuad_Abs(z) <= search->half[2] + reach + search->more));
}

// Appends the balls of the cells listed that overlap the query to a list with room for them;
// returns their end. Of a query that is a ball, those that may overlap it: the caller decides.
static inline int* testBalls(BallSearch* search, bool isBall, int* found)
{
    Search* plain = search->search;
    const CellGrid* grid = plain->broad->state;
    for (int i = 0; i < search->visitCount; ++i) {
        Visit visit = search->visits[i];
        for (int g = visit.cell; g != RB_BROAD_NONE; g = grid->lists[g].next) {
            unsigned near = findNearBalls(search, isBall, &grid->balls[g], visit.places);
            ++plain->groups;
            for (; near != 0; near &= near - 1) {
                *found = grid->lists[g].ids[__builtin_ctz(near)];
                bool isFound = *found != plain->self && (isBall || doOverlap(plain, *found));
                found += isFound ? 1 : 0;
            }
        }
    }
    search->visitCount = 0;
    return found;
}

// All cells within reach.
static inline int* testBlock(BallSearch* search, bool isBall)
{
    const CellGrid* grid = search->search->broad->state;
    const Level* level = &grid->levels[BALLS];
    const BallSpan* spans = search->spans;
    int* found = search->search->found->ids + search->search->found->count;
    int plane = spans[0].count * spans[1].count;
    search->visitCount = 0;
    for (int z = 0; z < spans[2].count; ++z) {
        for (int y = 0; y < spans[1].count; ++y) {
            double rest = search->most - spans[2].gaps[z] - spans[1].gaps[y];
            int row = (spans[2].cells[z] * level->size[1] + spans[1].cells[y]) * level->size[0];
            for (int x = 0; x < spans[0].count; ++x) {
                int cell = row + spans[0].cells[x];
                Visit visit = {cell, {(uint8_t)x, (uint8_t)y, (uint8_t)z, 0}};
                search->visits[search->visitCount] = visit;
                search->visitCount += spans[0].gaps[x] <= rest ? 1 : 0;
                __builtin_prefetch(&grid->balls[cell]);
                __builtin_prefetch(&grid->lists[cell]);
            }
        }
        if (search->visitCount + plane > SPAN_MAX * SPAN_MAX || z + 1 == spans[2].count) {
            found = testBalls(search, isBall, found);
        }
    }
    return found;
}

static void searchBalls(Search* plain, bool isBall)
{
    const CellGrid* grid = plain->broad->state;
    const Level* level = &grid->levels[BALLS];
    const rbBounds* box = plain->box;
    BallSearch search;
    search.search = plain;
    search.isBall = isBall;
    double largest = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double low = rbGetComponent(box->lower, axis), high = rbGetComponent(box->upper, axis);
        float half = (float)(0.5 * (high - low));
        search.half[axis] = (rbQuad){half, half, half, half};
        largest = fmax(largest, fmax(fabs(low), fabs(high)) + grid->period[axis]);
    }
    double slack = FLOAT_SLACK * (largest + level->edgeMax);
    float more = (float)slack;
    search.more = (rbQuad){more, more, more, more};
    double reach = 0.5 * (level->edgeMax + rbGetLongestEdge(box)) + slack;
    search.most = reach * reach;
    rbIdList_Reserve(plain->found, plain->found->count + level->count + 1);
    for (int axis = 0; axis < 3; ++axis) {
        double low = rbGetComponent(box->lower, axis), high = rbGetComponent(box->upper, axis);
        reach = 0.5 * (high - low + level->edgeMax) + slack;
        if (!spanBalls(&search, axis, 0.5 * (low + high), reach)) {
            scanLevel(plain, BALLS);
            return;
        }
    }
    int* found = isBall ? testBlock(&search, true) : testBlock(&search, false);
    plain->found->count = (int)(found - plain->found->ids);
    plain->cells += (int64_t)search.spans[0].count * search.spans[1].count * search.spans[2].count;
}

static void query(rbBroadPhase* broad, const rbBounds* box, int self, rbIdList* found)
{
    const CellGrid* grid = broad->state;
    Search search;
    search.broad = broad;
    search.box = box;
    search.found = found;
    search.self = self;
    search.groups = 0;
    search.cells = 0;
    for (int l = 0; l < grid->levelCount; ++l) {
        if (grid->levels[l].count > 0) {
            searchLevel(&search, l);
        }
    }
    if (grid->levels[BALLS].count > 0) {
        bool isOwn = self != RB_BROAD_NONE && box == &broad->boxes[self];
        searchBalls(&search, isOwn && broad->isIn[self] == RB_BROAD_BALL);
    }
    for (int i = 0; i < grid->giants.count; ++i) {
        int id = grid->giants.ids[i];
        if (id != self && doOverlap(&search, id)) {
            rbIdList_Push(found, id);
        }
    }
    int64_t tests = FOUR * search.groups + grid->giants.count;
    broad->counts.boxTests += tests;
    broad->counts.candidates += tests;
    broad->counts.cells += search.cells;
}

// ------------------------------------------------------------------------------------------ choice

// The boxes fill at least this part of the space that they are in.
#define DENSE 0.1
#define DENSE_COUNT 200

static bool areDense(const rbBounds* boxes, int count)
{
    rbBounds hull = boxes[0];
    double filled = 0.0;
    for (int i = 0; i < count; ++i) {
        double edge = rbGetLongestEdge(&boxes[i]);
        filled += edge * edge * edge;
        hull.lower = rbMin3(hull.lower, boxes[i].lower);
        hull.upper = rbMax3(hull.upper, boxes[i].upper);
    }
    rbVec3 size = rbSub(hull.upper, hull.lower);
    return count >= DENSE_COUNT && filled >= DENSE * size.x * size.y * size.z;
}

static bool suits(const rbBounds* boxes, int count)
{
    return rbBroadRowHash.suits(boxes, count) && areDense(boxes, count);
}

const rbBroadRow rbBroadRowCells = {
    .name = "cells",
    .stateSize = sizeof(CellGrid),
    .start = start,
    .stop = stop,
    .setPeriod = setPeriod,
    .insert = insert,
    .move = moveBox,
    .remove = detach,
    .query = query,
    .suits = suits,
};
