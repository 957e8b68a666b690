// The program with modules in Python.
#include "cli/cli.h"
#include "python/python_host.h"

int main(int argc, char** argv)
{
    rbUseScripts(&rbPythonHost);
    return rbProgram_Run(argc, argv);
}
