/* ThreadCache::TryLock() and Unlock() (cpp/harena/mem/internal/thread_cache.h) under C++'s memory orders: a
 * thread and two sweepers touch the cache's plain members, each when TryLock() lets it.
 *
 * A sequentially consistent run cannot show what a missing acquire or release does. So each process carries
 * what it has seen of every other one's plain accesses (`seen`), a release store leaves that with the variable
 * (`message`), and an acquire that reads the store takes it over: the happens-before of the C++ standard. An
 * access that has not seen all earlier ones of the others is a data race.
 *
 * Invariants: one holder at a time; no data race; whoever finds it taken goes on (no waiting).
 *
 * mutation: RELAXED_EXCHANGE  the exchange acquires nothing
 * mutation: RELAXED_STORE     Unlock() releases nothing
 * mutation: LOAD_THEN_STORE   no exchange: a load, and a store when it was free
 * mutation: UNLOCK_ALWAYS     whoever failed to lock unlocks all the same
 */
#define PROCESSES 3
#define ROUNDS 2

typedef Seen { byte by[PROCESSES] }

bool busy = false;
Seen message;         /* what the last release store to `busy` has published */
Seen seen[PROCESSES]; /* accesses of each process that process i knows to be over */
byte accesses[PROCESSES];
byte holders = 0;
byte successes = 0;

inline TakeOver() {
  u = 0;
  do
  :: u < PROCESSES ->
     seen[me].by[u] = (message.by[u] > seen[me].by[u] -> message.by[u] : seen[me].by[u]);
     u++
  :: else -> break
  od;
  u = 0
}

inline Publish() {
  u = 0;
  do
  :: u < PROCESSES -> message.by[u] = seen[me].by[u]; u++
  :: else -> break
  od;
  u = 0
}

/* What a relaxed store leaves: nothing to take over. */
inline PublishNothing() {
  u = 0;
  do
  :: u < PROCESSES -> message.by[u] = 0; u++
  :: else -> break
  od;
  u = 0
}

inline TouchPlainMembers() {
  atomic {
    u = 0;
    do
    :: u < PROCESSES -> assert(seen[me].by[u] == accesses[u]); /* else: a data race */
       u++
    :: else -> break
    od;
    u = 0;
    accesses[me]++;
    seen[me].by[me] = accesses[me]
  }
}

active [PROCESSES] proctype User() {
  byte me = _pid;
  byte u = 0;
  byte round = 0;
  bool locked = false;
  do
  :: round < ROUNDS ->
     locked = false;
     if
     :: busy -> skip /* the relaxed load; it may be out of date, which costs a try */
     :: true -> skip
     :: true ->
#ifdef LOAD_THEN_STORE
        if
        :: busy
        :: !busy -> atomic { busy = true; locked = true; TakeOver() }
        fi
#else
        atomic {
          locked = !busy;
          busy = true;
          if
#ifndef RELAXED_EXCHANGE
          :: locked -> TakeOver()
#endif
          :: else
          fi
          /* A read-modify-write continues the release sequence: the message stays. */
        }
#endif
     fi;
     if
     :: locked ->
        atomic { holders++; assert(holders == 1) };
        TouchPlainMembers();
        holders--;
        successes++
     :: else
     fi;
     if
#ifdef UNLOCK_ALWAYS
     :: true ->
#else
     :: locked ->
#endif
        atomic {
          busy = false;
#ifdef RELAXED_STORE
          PublishNothing()
#else
          Publish()
#endif
        }
#ifndef UNLOCK_ALWAYS
     :: else
#endif
     fi;
     round++
  :: else -> break
  od
}
