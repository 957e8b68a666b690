/// @file
/// Classical methods for joints, kept for comparison with look-ahead impulses: the step methods
/// "penalty" (springs and dampers instead of joints), "multipliers" (Lagrange multipliers, dense,
/// with Baumgarte's stabilization), "baraff" (Lagrange multipliers in linear time on trees) and
/// "reduced" (reduced coordinates on trees of ball joints, hinges, prismatic and fixed joints).
///
/// And the solver "cut" of look-ahead impulses: direct for a tree, joints that close loops one by
/// one.
///
/// rbRegisterLaboratory (lab.h) adds them to the tables of step methods and of solvers;
/// rbStepMethod_Find and rbSolverType_Find know them by name from then on. See
/// docs/modules/classical.md.
#ifndef RATTLEBACK_LAB_JOINTS_H
#define RATTLEBACK_LAB_JOINTS_H

#include <rattleback/step.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Settings of the methods. Make it with rbDefaultClassicalSettings.
typedef struct rbClassicalSettings {
    double baumgarteAlpha; ///< 1/s, >= 0, of multipliers and baraff: C'' + 2 alpha C' + beta^2 C =
                           ///< 0; 0, the default: drift
    double baumgarteBeta;  ///< 1/s, >= 0; 0
    double penaltyFrequency; ///< 1/s, > 0, Omega of penalty; 100
    double penaltyDamping;   ///< mu of penalty, >= 0; 1, the default, is critical
} rbClassicalSettings;

/// The settings in use where none are set.
RB_API rbClassicalSettings rbDefaultClassicalSettings(void);
/// Puts them into the settings of the step engine, where the four methods read them.
RB_API void rbStepSettings_SetClassical(rbStepSettings* step, const rbClassicalSettings* settings);
/// Those that were put there, or the defaults.
RB_API rbClassicalSettings rbStepSettings_GetClassical(const rbStepSettings* step);

#ifdef __cplusplus
}
#endif

#endif
