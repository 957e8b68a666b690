#include "verify/checks.h"
bool rbVPrepareShapes(rbVChecker* c) { (void)c; return true; }
void rbVCheckTouch(rbVChecker* c, const rbVEvent* e, const rbVState* a, const rbVState* b) { (void)c;(void)e;(void)a;(void)b; }
void rbVCheckApart(rbVChecker* c, double time, bool isStep) { (void)c;(void)time;(void)isStep; }
