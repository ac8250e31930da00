/* bluetooth at the grain of bluetooth.rml. */
#ifndef N
#define N 5
#endif
#ifndef ROUNDS
#define ROUNDS 5
#endif
byte pendingIo = 1;
byte stoppingFlag, stoppingEvent, stopped;

active proctype stopper() {
  stoppingFlag = 1;
  if
  :: d_step { pendingIo == 1 -> pendingIo-- }; goto signal
  :: d_step { pendingIo != 1 -> pendingIo-- }; goto wait
  fi;
signal:
  stoppingEvent = 1;
wait:
  stoppingEvent == 1;
  stopped = 1;
end:
  false
}

active [N - 1] proctype caller() {
  byte k = 1;
enter:
  pendingIo++;
  if
  :: stoppingFlag == 0; goto serve
  :: stoppingFlag != 0; goto leave
  fi;
serve:
  assert(stopped == 0);
leave:
  if
  :: d_step { pendingIo == 1 -> pendingIo-- }; goto signal
  :: d_step { pendingIo != 1 && k < ROUNDS -> pendingIo--; k++ }; goto enter
  :: d_step { pendingIo != 1 && k == ROUNDS -> pendingIo--; k = 0 }; goto end
  fi;
signal:
  if
  :: d_step { k < ROUNDS -> stoppingEvent = 1; k++ }; goto enter
  :: d_step { k == ROUNDS -> stoppingEvent = 1; k = 0 }; goto end
  fi;
end:
  false
}
