/* transaction at the grain of transaction.rml. */
#ifndef N
#define N 4
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef VALUES
#define VALUES 4
#endif
byte m, data;

active [N] proctype w() {
  byte k, old;
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
  :: d_step { data == old -> assert(data < VALUES); k++ }; goto update
  :: d_step { data != old -> assert(data < VALUES); old = 0 }; goto retry
  fi;
update:
  if :: d_step { data = (old + 1) % VALUES; old = 0 } fi;
  if
  :: d_step { k < ROUNDS -> m = 0 }; goto take
  :: d_step { k == ROUNDS -> m = 0; k = 0 }; goto end
  fi;
retry:
  m = 0;
  goto take;
end:
  false
}
