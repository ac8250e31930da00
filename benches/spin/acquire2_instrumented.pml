/* acquire2 with its serial run beside it, at the grain of acquire2_instrumented.rml. */
#ifndef N
#define N 5
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef VALUES
#define VALUES 4
#endif
#ifndef LINES
#define LINES 100
#endif
byte m, data, s_m, s_data, inside;
hidden byte j;

#define SERIAL assert(s_m == 0); s_m = 1; j = 0; \
  do :: j < LINES / 2 -> j++; s_data = (s_data + j) % VALUES :: else -> break od; \
  s_m = 0
#define LEAVE inside--; if :: inside == 0 -> assert(m == s_m); assert(data == s_data) :: else fi

active [N] proctype w() {
  byte k, d, i;
enter:
  if
  :: d_step { m == 0 -> m = 1; k++; inside++; SERIAL }; goto look
  :: d_step { m != 0 -> inside++ }; goto take
  fi;
take:
  if
  :: d_step { m == 0 -> m = 1; k++; SERIAL }; goto look
  :: m != 0; goto take
  fi;
look:
  if :: d_step { d = data; i++ } fi;
  if
  :: d_step { i < LINES / 2 -> data = (d + i) % VALUES; d = 0 }; goto look
  :: d_step { i == LINES / 2 -> data = (d + i) % VALUES; d = 0; i = 0 }; goto give
  fi;
give:
  if
  :: d_step { k < ROUNDS -> m = 0; LEAVE }; goto enter
  :: d_step { k == ROUNDS -> m = 0; k = 0; LEAVE }; goto end
  fi;
end:
  false
}
