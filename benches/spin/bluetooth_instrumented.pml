/* bluetooth with its serial run beside it, at the grain of bluetooth_instrumented.rml. */
#ifndef N
#define N 5
#endif
#ifndef ROUNDS
#define ROUNDS 4
#endif
byte pendingIo = 1;
byte stoppingFlag, stoppingEvent, stopped;
byte s_pendingIo = 1;
byte s_stoppingFlag, s_stoppingEvent, s_stopped;
byte inside;

#define S_DECREMENT s_pendingIo--; if :: s_pendingIo == 0 -> s_stoppingEvent = 1 :: else fi
#define LEAVE inside--; \
  if \
  :: inside == 0 -> \
     assert(pendingIo == s_pendingIo); assert(stoppingFlag == s_stoppingFlag); \
     assert(stoppingEvent == s_stoppingEvent); assert(stopped == s_stopped) \
  :: else \
  fi
#define S_CALL s_pendingIo++; if :: s_stoppingFlag == 0 -> s_served = 1; s_saw = s_stopped :: else fi; S_DECREMENT
#define RESULT assert(served == s_served && saw == s_saw); served = 0; saw = 0; s_served = 0; s_saw = 0

active proctype stopper() {
  d_step {
    inside++;
    stoppingFlag = 1;
    s_stoppingFlag = 1; S_DECREMENT; assert(s_stoppingEvent == 1); s_stopped = 1
  };
  if
  :: d_step { pendingIo == 1 -> pendingIo-- }; goto signal
  :: d_step { pendingIo != 1 -> pendingIo-- }; goto wait
  fi;
signal:
  stoppingEvent = 1;
wait:
  stoppingEvent == 1;
  d_step { stopped = 1; LEAVE };
end:
  false
}

active [N - 1] proctype caller() {
  byte k = 1, served, saw, s_served, s_saw;
enter:
  if :: d_step { inside++; pendingIo++ } fi;
  if
  :: d_step { stoppingFlag == 0 -> served = 1; S_CALL }; goto serve
  :: d_step { stoppingFlag != 0 -> S_CALL }; goto leave
  fi;
serve:
  saw = stopped;
leave:
  if
  :: d_step { pendingIo == 1 -> pendingIo-- }; goto signal
  :: d_step { pendingIo != 1 && k < ROUNDS -> pendingIo--; k++; RESULT; LEAVE }; goto enter
  :: d_step { pendingIo != 1 && k == ROUNDS -> pendingIo--; k = 0; RESULT; LEAVE }; goto end
  fi;
signal:
  if
  :: d_step { k < ROUNDS -> stoppingEvent = 1; k++; RESULT; LEAVE }; goto enter
  :: d_step { k == ROUNDS -> stoppingEvent = 1; k = 0; RESULT; LEAVE }; goto end
  fi;
end:
  false
}
