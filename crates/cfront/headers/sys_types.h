// Names of integer types.
#ifndef CYRANO_SYS_TYPES_H
#define CYRANO_SYS_TYPES_H
#include <stddef.h>
#include <stdint.h>
#include <time.h>
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned mode_t;
#endif
