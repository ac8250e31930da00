/* transaction with its serial run beside it, at the grain of transaction_instrumented.rml. */
#ifndef N
#define N 4
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef VALUES
#define VALUES 4
#endif
byte m, data, s_m, s_data, inside;
hidden byte s_old;

#define SERIAL assert(s_m == 0); s_m = 1; s_old = s_data; s_m = 0; \
  assert(s_m == 0); s_m = 1; assert(s_data == s_old); s_data = (s_old + 1) % VALUES; s_m = 0
#define LEAVE inside--; if :: inside == 0 -> assert(m == s_m); assert(data == s_data) :: else fi

active [N] proctype w() {
  byte k, old;
enter:
  if
  :: d_step { m == 0 -> m = 1; inside++ }; goto look
  :: d_step { m != 0 -> inside++ }; goto take
  fi;
take:
  if
  :: d_step { m == 0 -> m = 1 }; goto look
  :: m != 0; goto take
  fi;
look:
  old = data;
  m = 0;
again:
  if
  :: d_step { m == 0 -> m = 1 }; goto compare
  :: m != 0; goto again
  fi;
compare:
  if
  :: d_step { data == old -> k++ }; goto update
  :: d_step { data != old -> old = 0 }; goto retry
  fi;
update:
  if :: d_step { data = (old + 1) % VALUES; old = 0; SERIAL } fi;
  if
  :: d_step { k < ROUNDS -> m = 0; LEAVE }; goto enter
  :: d_step { k == ROUNDS -> m = 0; k = 0; LEAVE }; goto end
  fi;
retry:
  m = 0;
  goto take;
end:
  false
}
