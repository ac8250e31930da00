/* acquire2 at the grain of acquire2.rml. */
#ifndef N
#define N 5
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef VALUES
#define VALUES 4
#endif
#ifndef LINES
#define LINES 100
#endif
byte m, data;

active [N] proctype w() {
  byte k, d, i;
take:
  if
  :: d_step { m == 0 -> m = 1; k++ }; goto look
  :: m != 0; goto take
  fi;
look:
  if :: d_step { d = data; assert(d < VALUES); i++ } fi;
  if
  :: d_step { i < LINES / 2 -> data = (d + i) % VALUES; d = 0 }; goto look
  :: d_step { i == LINES / 2 -> data = (d + i) % VALUES; d = 0; i = 0 }; goto give
  fi;
give:
  if
  :: d_step { k < ROUNDS -> m = 0 }; goto take
  :: d_step { k == ROUNDS -> m = 0; k = 0 }; goto end
  fi;
end:
  false
}
