// Times, which are not modelled.
#ifndef CYRANO_TIME_H
#define CYRANO_TIME_H
typedef long time_t;
struct timespec { time_t tv_sec; long tv_nsec; };
int nanosleep();
#endif
