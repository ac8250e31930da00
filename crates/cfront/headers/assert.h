// Assertions.
#ifndef CYRANO_ASSERT_H
#define CYRANO_ASSERT_H
#include <stdbool.h>
void assert(bool condition);
#endif
