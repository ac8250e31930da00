// Assertions. As in C they are gone where NDEBUG is defined when this is included.
#include <stdbool.h>
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
void assert(bool condition);
#endif
