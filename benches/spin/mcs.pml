/* The MCS queue lock at the grain of mcs.rml. */
#ifndef N
#define N 5
#endif
byte tail, next[N], locked[N], inside;

active [N] proctype p() {
  byte before, after;
start:
  next[_pid] = 0;
  if
  :: d_step { tail != 0 -> before = tail; tail = _pid + 1 }; goto queue
  :: d_step { tail == 0 -> tail = _pid + 1 }; goto critical
  fi;
queue:
  locked[_pid] = 1;
  d_step { next[before - 1] = _pid + 1; before = 0 };
wait:
  if
  :: locked[_pid] == 0; goto critical
  :: locked[_pid] != 0; goto wait
  fi;
critical:
  if :: d_step { assert(inside == 0); inside++ } fi;
  inside--;
  if
  :: d_step { next[_pid] != 0 -> after = next[_pid] }; goto pass
  :: next[_pid] == 0; goto detach
  fi;
detach:
  if
  :: d_step { tail == _pid + 1 -> tail = 0 }; goto start
  :: tail != _pid + 1; goto follow
  fi;
follow:
  if
  :: d_step { next[_pid] != 0 -> after = next[_pid] }; goto pass
  :: next[_pid] == 0; goto follow
  fi;
pass:
  if :: d_step { locked[after - 1] = 0; after = 0 } fi;
  goto start
}
