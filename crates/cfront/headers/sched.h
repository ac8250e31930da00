// Scheduling: every order of steps is looked at anyway.
#ifndef CYRANO_SCHED_H
#define CYRANO_SCHED_H
int sched_yield();
#endif
