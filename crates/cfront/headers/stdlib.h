// Allocation, and how a program ends.
#ifndef CYRANO_STDLIB_H
#define CYRANO_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *object, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *object);
void exit(int status);
void _Exit(int status);
void quick_exit(int status);
void abort(void);
#define RAND_MAX 2147483647
int rand(void);
long random(void);
void srand();
void srandom();
int atexit();
#endif
