// Integer types of fixed width.
#ifndef CYRANO_INTTYPES_H
#define CYRANO_INTTYPES_H
#include <stdint.h>
#endif
