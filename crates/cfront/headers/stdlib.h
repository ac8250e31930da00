// Allocation.
#ifndef CYRANO_STDLIB_H
#define CYRANO_STDLIB_H
#include <stddef.h>
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *object, size_t size);
void free(void *object);
#endif
