/* Budget::TryCharge() and Refund() (cpp/harena/mem/budget.cc): small charges of threads whose sum fits, and a
 * giant's that never does.
 *
 * Invariants: what is in use never exceeds the limit; a charge that fits beside all the others is never
 * refused because somebody else's was too large; at the end nothing is in use.
 *
 * mutation: ADD_THEN_TAKE_BACK  a charge is added first and taken back when it was too much
 * mutation: LOAD_THEN_STORE     no compare-exchange: a load, and a store of the sum
 */
#define LIMIT 4
#define GIANT 5

int used = 0;

/* `ok` says whether `bytes` were charged. */
inline TryCharge(bytes, ok) {
#ifdef ADD_THEN_TAKE_BACK
  atomic { before = used; used = used + bytes };
  if
  :: before + bytes <= LIMIT -> ok = true
  :: else -> used = used - bytes; ok = false
  fi;
#else
  before = used;
  do
  :: before + bytes <= LIMIT ->
#ifdef LOAD_THEN_STORE
     used = before + bytes;
     ok = true;
     break
#else
     atomic {
       if
       :: used == before -> used = before + bytes; ok = true; break
       :: used != before -> before = used
       :: true -> before = used /* compare_exchange_weak may fail by itself */
       fi
     }
#endif
  :: else -> ok = false; break
  od;
#endif
  before = 0
}

active [2] proctype Small() {
  int before;
  bool ok;
  byte round = 0;
  do
  :: round < 2 ->
     TryCharge(2, ok);
     assert(ok && used <= LIMIT);
     used = used - 2; /* Refund(): one fetch_sub */
     round++
  :: else -> break
  od;
  (_nr_pr == 1 || _pid != 0) -> assert(_pid != 0 || used == 0)
}

active proctype Giant() {
  int before;
  bool ok;
  TryCharge(GIANT, ok);
  assert(!ok)
}
