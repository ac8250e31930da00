// Sleeping: every order of steps is looked at anyway.
#ifndef CYRANO_UNISTD_H
#define CYRANO_UNISTD_H
#include <stddef.h>
int usleep();
unsigned sleep();
void _exit(int status);
#endif
