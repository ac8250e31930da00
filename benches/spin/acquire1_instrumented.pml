/* acquire1 with its serial run beside it, at the grain of acquire1_instrumented.rml. */
#ifndef N
#define N 6
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef VALUES
#define VALUES 4
#endif
byte m, data, s_m, s_data, inside;

#define SERIAL assert(s_m == 0); s_m = 1; s_data = (s_data + 1) % VALUES; s_m = 0
#define LEAVE inside--; if :: inside == 0 -> assert(m == s_m); assert(data == s_data) :: else fi

active [N] proctype w() {
  byte k, d;
enter:
  if
  :: d_step { m == 0 -> m = 1; inside++; SERIAL }; goto look
  :: d_step { m != 0 -> inside++ }; goto take
  fi;
take:
  if
  :: d_step { m == 0 -> m = 1; SERIAL }; goto look
  :: m != 0; goto take
  fi;
look:
  if :: d_step { d = data; k++ } fi;
  d_step { data = (d + 1) % VALUES; d = 0 };
  if
  :: d_step { k < ROUNDS -> m = 0; LEAVE }; goto enter
  :: d_step { k == ROUNDS -> m = 0; k = 0; LEAVE }; goto end
  fi;
end:
  false
}
