// Memory as a whole: see docs/c.md.
#ifndef CYRANO_STRING_H
#define CYRANO_STRING_H
#include <stddef.h>
void *memset();
void *memcpy();
#endif
