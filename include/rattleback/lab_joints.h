/// @file
/// Classical methods for joints, kept for comparison with look-ahead impulses: the step methods
/// "penalty" (springs and dampers instead of joints), "multipliers" (Lagrange multipliers, dense,
/// with Baumgarte stabilization), "baraff" (Lagrange multipliers in linear time on trees) and
/// "reduced" (reduced coordinates on trees of ball, hinge, prismatic and fixed joints).
///
/// Also the solver "cut" of look-ahead impulses: direct for a tree, with loop-closing joints solved
/// one by one.
///
/// rbRegisterLaboratory (lab.h) adds them to the tables of step methods and of solvers;
/// rbStepMethod_Find and rbSolverType_Find then find them by name. See docs/modules/classical.md.
#ifndef RATTLEBACK_LAB_JOINTS_H
#define RATTLEBACK_LAB_JOINTS_H

#include <rattleback/step.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Settings of the methods. Make them with rbDefaultClassicalSettings.
typedef struct rbClassicalSettings {
    double baumgarteAlpha; ///< 1/s, >= 0, of multipliers and baraff: C'' + 2 alpha C' + beta^2 C =
                           ///< 0; 0, the default: drift
    double baumgarteBeta;  ///< 1/s, >= 0; 0
    double penaltyFrequency; ///< 1/s, > 0, Omega of penalty; 100
    double penaltyDamping;   ///< mu of penalty, >= 0; 1, the default, is critical
} rbClassicalSettings;

/// The default settings.
RB_API rbClassicalSettings rbDefaultClassicalSettings(void);
/// Stores them in the settings of the step engine, where the four methods read them.
RB_API void rbStepSettings_SetClassical(rbStepSettings* step, const rbClassicalSettings* settings);
/// The stored settings, or the defaults.
RB_API rbClassicalSettings rbStepSettings_GetClassical(const rbStepSettings* step);

#ifdef __cplusplus
}
#endif

#endif
