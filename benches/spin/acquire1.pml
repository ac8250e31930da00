/* acquire1 at the grain of acquire1.rml: one option is one step, one label one place where a thread rests. */
#ifndef N
#define N 6
#endif
#ifndef ROUNDS
#define ROUNDS 6
#endif
#ifndef VALUES
#define VALUES 4
#endif
byte m, data;

active [N] proctype w() {
  byte k, d;
take:
  if
  :: d_step { m == 0 -> m = 1 }; goto look
  :: m != 0; goto take
  fi;
look:
  if :: d_step { d = data; assert(d < VALUES); k++ } fi;
  d_step { data = (d + 1) % VALUES; d = 0 };
  if
  :: d_step { k < ROUNDS -> m = 0 }; goto take
  :: d_step { k == ROUNDS -> m = 0; k = 0 }; goto end
  fi;
end:
  false
}
