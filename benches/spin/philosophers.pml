/* Dining philosophers at the grain of philosophers.rml. */
#ifndef N
#define N 10
#endif
#define FIRST (_pid % (N - 1))
#define SECOND (_pid + 1 - _pid / (N - 1))
byte fork[N], eating[N];

active [N] proctype p() {
think:
  if :: d_step { fork[FIRST] == 0 -> fork[FIRST] = 1 } fi;
  d_step { fork[SECOND] == 0 -> fork[SECOND] = 1 };
  eating[_pid] = 1;
  assert(eating[(_pid + N - 1) % N] == 0);
  assert(eating[(_pid + 1) % N] == 0);
  eating[_pid] = 0;
  fork[SECOND] = 0;
  fork[FIRST] = 0;
  goto think
}
