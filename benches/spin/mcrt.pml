/* A transactional memory like McRT at the grain of mcrt.rml.
   `u` is VARS while operations are chosen, and below it while locks are given back. */
#ifndef N
#define N 3
#endif
#ifndef VARS
#define VARS 2
#endif
#ifndef OPS
#define OPS 2
#endif
#define WRITER 8
byte owner[VARS], g[VARS];

/* On to the next variable that is locked. */
#define SKIP do :: u < VARS && rs[u] == 0 && ws[u] == 0 -> u++ :: else -> break od
#define RELEASE u = 0; n = 0; SKIP
/* What follows the last of the locks, or the next one. */
#define FREED if :: u == VARS -> fail = 0 :: else fi
#define DONE v = 0; if :: n == OPS -> RELEASE :: else fi
#define FAIL v = 0; fail = 1; RELEASE; FREED

#define READ(x) \
  :: d_step { u == VARS && rs[x] == 0 && ws[x] == 0 -> v = x; n++ }; goto look \
  :: d_step { u == VARS && (rs[x] == 1 || ws[x] == 1) -> v = x; n++ }; goto load
#define WRITE(x) \
  :: d_step { u == VARS && ws[x] == 0 -> v = x; n++ }; goto lock \
  :: d_step { u == VARS && ws[x] == 1 -> v = x; n++ }; goto put

active [N] proctype t() {
  byte v, n, l, fail, u = VARS;
  byte rs[VARS], ws[VARS], old[VARS];
main:
  if
  READ(0)
  WRITE(0)
#if VARS > 1
  READ(1)
  WRITE(1)
#endif
#if VARS > 2
  READ(2)
  WRITE(2)
#endif
#if VARS > 3
  READ(3)
  WRITE(3)
#endif
  :: d_step { u == VARS -> RELEASE }; goto main
  :: d_step { u < VARS && ws[u] == 1 && fail == 1 -> g[u] = old[u]; old[u] = 0 }; goto free
  :: d_step { u < VARS && ws[u] == 1 && fail == 0 -> owner[u] = 0; old[u] = 0; ws[u] = 0; SKIP; FREED }; goto main
  :: d_step { u < VARS && rs[u] == 1 -> owner[u] = owner[u] - 1; rs[u] = 0; SKIP; FREED }; goto main
  fi;
free:
  if :: d_step { owner[u] = 0; ws[u] = 0; SKIP; FREED } fi;
  goto main;
look:
  if
  :: d_step { owner[v] < WRITER -> l = owner[v] }; goto count
  :: d_step { owner[v] >= WRITER -> FAIL }; goto main
  fi;
count:
  if
  :: d_step { owner[v] == l -> owner[v] = l + 1; l = 0; rs[v] = 1 }; goto load
  :: d_step { owner[v] != l -> l = 0; FAIL }; goto main
  fi;
load:
  if :: d_step { assert(ws[v] == 0 || g[v] == _pid + 1); DONE } fi;
  goto main;
lock:
  if
  :: d_step { owner[v] == rs[v] -> owner[v] = WRITER + _pid; rs[v] = 0; ws[v] = 1 }; goto save
  :: d_step { owner[v] != rs[v] -> FAIL }; goto main
  fi;
save:
  if :: d_step { old[v] = g[v] } fi;
put:
  if :: d_step { g[v] = _pid + 1; DONE } fi;
  goto main
}
