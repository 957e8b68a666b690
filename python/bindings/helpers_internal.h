// Everything that the module is made of: the public headers, the page writer of the program, our helpers.
#pragma once

#include <rattleback/lab.h>
#include <rattleback/output.h>
#include <rattleback/rattleback.h>
#include <rattleback/scene.h>

#include "helpers.h"
