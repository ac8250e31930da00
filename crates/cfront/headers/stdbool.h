// Truth values.
#ifndef CYRANO_STDBOOL_H
#define CYRANO_STDBOOL_H
#define bool _Bool
#define true ((_Bool)1)
#define false ((_Bool)0)
#endif
