/* Peterson's filter lock at the grain of peterson.rml. */
#ifndef N
#define N 4
#endif
byte level[N], turn[N], inside;

/* The next index to scan, leaving out the thread itself. */
#define FIRST (_pid == 0 -> 1 : 0)
#define NEXT (j + 1 == _pid -> j + 2 : j + 1)

active [N] proctype p() {
  byte l = 1, j;
raise:
  level[_pid] = l;
  turn[l] = _pid;
look:
  if
  :: d_step { turn[l] == _pid -> j = FIRST }; goto scan
  :: d_step { turn[l] != _pid && l < N - 1 -> l++ }; goto raise
  :: d_step { turn[l] != _pid && l == N - 1 -> l = 0 }; goto critical
  fi;
scan:
  if
  :: d_step { level[j] >= l -> j = 0 }; goto look
  :: d_step { level[j] < l && NEXT < N -> j = NEXT }; goto scan
  :: d_step { level[j] < l && NEXT >= N && l < N - 1 -> j = 0; l++ }; goto raise
  :: d_step { level[j] < l && NEXT >= N && l == N - 1 -> j = 0; l = 0 }; goto critical
  fi;
critical:
  if :: d_step { assert(inside == 0); inside++ } fi;
  inside--;
  d_step { level[_pid] = 0; l = 1 };
  goto raise
}
