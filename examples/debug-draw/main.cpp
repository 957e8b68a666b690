// Debug draw, in C++17: a small stack falls and is drawn as points and lines. With a file as its
// argument the program writes them, seen from the side:
//   debug_draw picture.txt
//   gnuplot -p -e "plot 'picture.txt' using 1:2:3 with linespoints linecolor rgb variable"
// A world and its errors are wrapped in a few lines.
#include <rattleback/rattleback.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

using World = std::unique_ptr<rbWorld, decltype(&rbDestroyWorld)>;

// Throws the message of the library.
template <typename Result> Result check(Result result, const rbError& error)
{
    if (error.status != RB_STATUS_OK) {
        throw std::runtime_error(error.message);
    }
    return result;
}

World makeWorld()
{
    rbError error{};
    rbWorldDef def = rbDefaultWorldDef();
    def.logFn = [](rbLogLevel level, const char* message, void*) {
        std::fprintf(stderr, "%s: %s\n", rbLogLevel_Name(level), message);
    };
    rbWorld* world = rbCreateWorld(&def, &error);
    return {check(world, error), rbDestroyWorld};
}

rbBodyId addBody(const World& world, rbBodyType type, rbVec3 position, rbGeometry* geometry)
{
    rbError error{};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = position;
    rbBodyId body = check(rbCreateBody(world.get(), &def, &error), error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world.get(), geometry);
    shape.material.restitution = 0.0;
    check(rbCreateShape(world.get(), body, &shape, &error), error);
    return body;
}

// Collects what is drawn, seen from the side: lines "x z color" as gnuplot reads them.
class Picture
{
  public:
    static void point(rbVec3 p, uint32_t color, void* context)
    {
        Picture& picture = *static_cast<Picture*>(context);
        picture.points += 1;
        picture.add(p, color);
        picture.text += "\n\n";
    }
    static void line(rbVec3 a, rbVec3 b, uint32_t color, void* context)
    {
        Picture& picture = *static_cast<Picture*>(context);
        picture.lines += 1;
        picture.add(a, color);
        picture.add(b, color);
        picture.text += "\n\n";
    }
    void write(const std::string& file) const
    {
        std::ofstream(file) << text;
    }
    int points = 0;
    int lines = 0;

  private:
    void add(rbVec3 p, uint32_t color)
    {
        text +=
            std::to_string(p.x) + ' ' + std::to_string(p.z) + ' ' + std::to_string(color) + '\n';
    }
    std::string text;
};

} // namespace

int main(int argc, char** argv)
{
    try {
        World world = makeWorld();
        rbError error{};
        addBody(world, RB_BODY_STATIC, rbMakeVec3(0, 0, 0),
                rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, &error));
        rbBodyId top{};
        for (int i = 0; i < 3; ++i) {
            top = addBody(world, RB_BODY_DYNAMIC, rbMakeVec3(0, 0, 0.11 + 0.22 * i),
                          rbCreateBox(rbMakeVec3(0.2, 0.2, 0.1), &error));
        }
        rbStepReport report = rbWorld_Advance(world.get(), 2.0);

        Picture picture;
        rbDebugDraw draw = rbDefaultDebugDraw();
        draw.drawPoint = Picture::point;
        draw.drawLine = Picture::line;
        draw.context = &picture;
        draw.planeHalfSize = 1.0;
        check(rbWorld_Draw(world.get(), &draw, &error), error);
        if (argc > 1) {
            picture.write(argv[1]);
        }
        double height = rbBody_GetState(world.get(), top).center.z;
        std::printf("%d lines and %d contact points drawn; the uppermost box lies at %.5f m\n",
                    picture.lines, picture.points, height);
        // Three boxes of 12 edges, the square of the plane, and a normal at every contact.
        bool isRight = picture.points >= 9 && picture.lines == 3 * 12 + 4 + picture.points;
        return report.status == RB_STATUS_OK && isRight && std::fabs(height - 0.5) < 1e-3 ? 0 : 1;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 2;
    }
}
