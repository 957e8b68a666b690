/// @file
/// Includes all headers of the core library. The io library adds <rattleback/scene.h> and
/// <rattleback/output.h>.
#ifndef RATTLEBACK_H
#define RATTLEBACK_H

#include <rattleback/base.h>
#include <rattleback/body.h>
#include <rattleback/broadphase.h>
#include <rattleback/collision.h>
#include <rattleback/contact.h>
#include <rattleback/debug_draw.h>
#include <rattleback/event.h>
#include <rattleback/id.h>
#include <rattleback/impact.h>
#include <rattleback/joint.h>
#include <rattleback/query.h>
#include <rattleback/shape.h>
#include <rattleback/step.h>
#include <rattleback/vecmath.h>
#include <rattleback/world.h>

#endif
