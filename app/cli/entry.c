// The program as it is installed: no rows besides those of the tables.
#include "cli/cli.h"

int main(int argc, char** argv)
{
    return rbProgram_Run(argc, argv);
}
