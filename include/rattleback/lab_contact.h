/// @file
/// Penalty contact, kept for comparison: the contact method "penalty", springs and dampers at the
/// points of contact. Single bodies only, without freezing and search for the time of contact.
///
/// rbRegisterLaboratory (lab.h) adds it to the table of contact methods; rbContactMethod_Find knows
/// it by name from then on. See docs/modules/contact.md.
#ifndef RATTLEBACK_LAB_CONTACT_H
#define RATTLEBACK_LAB_CONTACT_H

#include <rattleback/contact.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Settings of penalty contact. Make it with rbDefaultPenaltySettings.
typedef struct rbPenaltySettings {
    double depth;   ///< m, >= 1e-9: a body alone sinks so deep under 9.81 m/s^2; 1e-3
    double damping; ///< of its dampers, 0 to 1, which is critical; 0.5
} rbPenaltySettings;

/// The settings in use where none are set.
RB_API rbPenaltySettings rbDefaultPenaltySettings(void);
/// Puts them into the settings of contacts, where the method "penalty" reads them.
RB_API void rbContactSettings_SetPenalty(rbContactSettings* contact,
                                         const rbPenaltySettings* settings);
/// Those that were put there, or the defaults.
RB_API rbPenaltySettings rbContactSettings_GetPenalty(const rbContactSettings* contact);

#ifdef __cplusplus
}
#endif

#endif
