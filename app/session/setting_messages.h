// Settings in messages to clients: their values, and what panels need to show them.
#pragma once

#include "base/core/settings.h"
#include "session/message.h"

// The values of all keys: "on":true,...
void rbMessage_PutValues(rbMessage* text, const rbSettingList* list, const void* settings);
// The same under the name of the list: "contact":{"on":true,...}.
void rbMessage_PutSettings(rbMessage* text, const rbSettingList* list, const void* settings);
// What every key of a list is, under the name of the list: "contact":[{"key":"shell",
// "type":"number","unit":"m","meaning":"...","default":1e-05,"low":0,"high":1,"isLowOpen":false},
// ...]. Types are number, integer, switch, word (with "words") and vector.
void rbMessage_DescribeSettings(rbMessage* text, const rbSettingList* list);
