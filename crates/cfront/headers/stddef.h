// Sizes and the null pointer.
#ifndef CYRANO_STDDEF_H
#define CYRANO_STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
