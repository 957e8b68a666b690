/// @file
/// Penalty contact, kept for comparison: the contact method "penalty", springs and dampers at the
/// contact points. Single bodies only; no freezing and no search for the time of contact.
///
/// rbRegisterLaboratory (lab.h) adds it to the table of contact methods; rbContactMethod_Find then
/// finds it by name. See docs/modules/contact.md.
#ifndef RATTLEBACK_LAB_CONTACT_H
#define RATTLEBACK_LAB_CONTACT_H

#include <rattleback/contact.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Settings of penalty contact. Make them with rbDefaultPenaltySettings.
typedef struct rbPenaltySettings {
    double depth;   ///< m, >= 1e-9: how deep a single body sinks under 9.81 m/s^2; 1e-3
    double damping; ///< damping ratio, 0 to 1 (critical); 0.5
} rbPenaltySettings;

/// The default settings.
RB_API rbPenaltySettings rbDefaultPenaltySettings(void);
/// Stores them in the contact settings, where the method "penalty" reads them.
RB_API void rbContactSettings_SetPenalty(rbContactSettings* contact,
                                         const rbPenaltySettings* settings);
/// The stored settings, or the defaults.
RB_API rbPenaltySettings rbContactSettings_GetPenalty(const rbContactSettings* contact);

/// Adds a contact law of your own as a contact method; scenes and rbContactMethod_Find then know it
/// by its name. The row is borrowed for the rest of the process. Call it from one thread before the
/// first world is created. INVALID for an incomplete row or a name that is empty or taken, LIMIT if
/// the table is full. error may be NULL.
RB_API rbStatus rbRegisterContactLaw(const rbContactLawRow* row, rbError* error);

#ifdef __cplusplus
}
#endif

#endif
