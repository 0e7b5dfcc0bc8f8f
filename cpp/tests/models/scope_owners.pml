/* The owners of a scope: Scope, Detach() and ScopeCore::Release() (cpp/harena/scope/scope.cc) under C++'s
 * memory orders. The scope's thread detaches twice and lets go; two other threads use what they were handed
 * and let go. Last of all, whoever it is, ends the scope.
 *
 * As in cache_lock.pml each process carries what it has seen of the others' plain accesses. `owners` keeps
 * every value that it had, with what was published there: a load may read any that is not older than what
 * its thread has seen of `owners` already, as the standard allows.
 *
 * Invariants: the scope ends exactly once; nobody touches it afterwards; every access of every owner happens
 * before its end (none is a data race with the destructors).
 *
 * mutation: RELAXED_LOAD      the load that saves the locked instruction acquires nothing
 * mutation: RELAXED_FETCH     letting go releases nothing
 * mutation: FETCH_RELEASE     letting go acquires nothing
 * mutation: LOAD_THEN_STORE   no locked instruction at all
 * mutation: NO_INCREMENT      Detach() forgets to count
 * mutation: ALONE_AT_TWO      "alone" is taken for granted with two owners
 */
#define PROCESSES 3
#define VALUES 6 /* what `owners` can have been: 1, two detached, three gone */

typedef Seen { byte by[PROCESSES] }

byte values[VALUES];      /* of `owners`, in modification order */
Seen published[VALUES];   /* with each value, what acquiring it tells */
byte newest = 0;
Seen seen[PROCESSES];
byte seen_value[PROCESSES]; /* place of the newest value of `owners` that a process knows of */
byte accesses[PROCESSES];
byte ended = 0;

/* A scope or a detached scope on its way to its thread, with what its sender has seen. */
chan handed[PROCESSES] = [1] of {bool};
Seen sent[PROCESSES];
byte sent_value[PROCESSES];

inline Touch() {
  atomic { assert(ended == 0); accesses[me]++; seen[me].by[me] = accesses[me] }
}

inline TakeOver(from) {
  u = 0;
  do
  :: u < PROCESSES ->
     seen[me].by[u] = (from.by[u] > seen[me].by[u] -> from.by[u] : seen[me].by[u]);
     u++
  :: else -> break
  od;
  u = 0
}

/* owners.fetch_add(change) as one step of the modification order. */
inline Change(change, acquires, releases) {
  if
  :: acquires -> TakeOver(published[newest])
  :: else
  fi;
  before = values[newest];
  assert(newest + 1 < VALUES);
  values[newest + 1] = before + change;
  u = 0;
  do /* a read-modify-write continues the release sequence that it reads from */
  :: u < PROCESSES ->
     published[newest + 1].by[u] = published[newest].by[u];
     if
     :: releases && seen[me].by[u] > published[newest].by[u] ->
        published[newest + 1].by[u] = seen[me].by[u]
     :: else
     fi;
     u++
  :: else -> break
  od;
  u = 0;
  newest++;
  seen_value[me] = newest
}

#ifdef RELAXED_LOAD
#define LOAD_ACQUIRES false
#else
#define LOAD_ACQUIRES true
#endif
#if defined(RELAXED_FETCH)
#define FETCH_ACQUIRES true
#define FETCH_RELEASES false
#elif defined(FETCH_RELEASE)
#define FETCH_ACQUIRES false
#define FETCH_RELEASES true
#else
#define FETCH_ACQUIRES true
#define FETCH_RELEASES true
#endif
#ifdef ALONE_AT_TWO
#define ALONE 2
#else
#define ALONE 1
#endif

inline Release() {
  /* owners.load(): any value that is not older than what is known. */
  atomic {
    read = seen_value[me];
    do
    :: read < newest -> read++
    :: break
    od;
    seen_value[me] = read;
    if
    :: LOAD_ACQUIRES -> TakeOver(published[read])
    :: else
    fi;
    before = values[read];
    read = 0
  };
  if
  :: before <= ALONE -> last = true
  :: else ->
#ifdef LOAD_THEN_STORE
     read = before;
     atomic { Change(0, true, true); values[newest] = read - 1; last = (read == 1) }
#else
     atomic { Change(-1, FETCH_ACQUIRES, FETCH_RELEASES); last = (before == 1) }
#endif
  fi;
  if
  :: last ->
     atomic {
       ended++;
       assert(ended == 1);
       u = 0;
       do
       :: u < PROCESSES -> assert(seen[me].by[u] == accesses[u]); /* else: a data race */
          u++
       :: else -> break
       od;
       u = 0
     }
  :: else
  fi
}

#define VARIABLES byte u, before, read; bool last

inline Detach(to) {
#ifndef NO_INCREMENT
  atomic { Change(1, false, false) };
#endif
  atomic {
    u = 0;
    do
    :: u < PROCESSES -> sent[to].by[u] = seen[me].by[u]; u++
    :: else -> break
    od;
    u = 0;
    sent_value[to] = seen_value[me];
    handed[to]!true
  }
}

active proctype ScopeThread() {
  byte me = 0;
  VARIABLES;
  values[0] = 1;
  Touch();
  Detach(1);
  Touch();
  if
  :: Detach(2)
  :: atomic { skip; handed[2]!false }
  fi;
  Touch();
  Release();
  /* One release too few or too many shows when all are through. */
  atomic { _nr_pr == 1 -> assert(ended == 1) }
}

active [2] proctype Detached() {
  byte me = _pid;
  VARIABLES;
  bool mine;
  atomic {
    handed[me]?mine;
    TakeOver(sent[me]);
    seen_value[me] = sent_value[me]
  };
  if
  :: mine -> Touch(); Release()
  :: else
  fi
}
