// Memory as a whole, and strings: see docs/c.md.
#ifndef CYRANO_STRING_H
#define CYRANO_STRING_H
#include <stddef.h>
void memset();
void memcpy();
void memmove();

static inline size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length] != 0)
        length++;
    return length;
}

static inline int strcmp(const char *one, const char *other)
{
    size_t at = 0;
    while (one[at] != 0 && one[at] == other[at])
        at++;
    return (unsigned char)one[at] - (unsigned char)other[at];
}

static inline int strncmp(const char *one, const char *other, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (one[at] != other[at] || one[at] == 0)
            return (unsigned char)one[at] - (unsigned char)other[at];
    }
    return 0;
}

static inline char *strcpy(char *to, const char *from)
{
    size_t at = 0;
    do {
        to[at] = from[at];
    } while (from[at++] != 0);
    return to;
}
#endif
