// Error numbers, those of Linux.
#ifndef CYRANO_ERRNO_H
#define CYRANO_ERRNO_H
static _Thread_local int __cyrano_errno;
#define errno __cyrano_errno
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EAGAIN 11
#define EWOULDBLOCK 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define EDEADLK 35
#define EOVERFLOW 75
#define ETIMEDOUT 110
#endif
