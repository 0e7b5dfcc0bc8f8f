/* The page pool: threads that allocate, free, hand blocks to each other and end, while the pool decays,
 * is asked for its statistics and at last is destroyed (cpp/harena/mem/page_pool.cc, internal/page_heap.cc,
 * internal/thread_cache.h).
 *
 * What is small here: one region of PAGES blocks of one size class, caches of SLOTS blocks, a retention
 * bound of RETAINED_MAX blocks, a budget that all blocks together exceed. One step here is one access to
 * shared memory there, but for what a mutex guards as a leaf (the heap's: nothing else is taken inside), which
 * is one step as a whole, and for a thread's own cache while it holds `busy`.
 *
 * Invariants:
 *   once       a block is handed out only when nobody holds it, and lies in one place at a time
 *   none lost  when the pool is destroyed, every block has come back and all are given back to the system
 *   retained   the central list holds at most the retention bound and what Put() calls are just adding
 *   budget     never above its limit, and zero at the end
 *   live       nobody waits for ever (spin's check for invalid end states)
 *
 * mutation: SWEEP_WITHOUT_LOCK      the sweeper empties a cache that its thread is using
 * mutation: EVICT_LEAVES_VICTIMS    blocks stay in the list while the system takes their memory
 * mutation: EXIT_FORGETS_CACHE      a thread that ends does not return its blocks
 * mutation: EXIT_AFTER_DESTROY      a thread that ends does not look whether its pool is still there
 * mutation: PUT_DOES_NOT_EVICT      what comes back is kept beyond the bound
 * mutation: HEAP_WITHOUT_MUTEX      the central list is read and changed in two steps
 * mutation: SWEEP_WHILE_HOLDING     a thread sweeps all caches before it lets go of its own
 * mutation: SWEEP_KEEPS_CHARGE      what is swept out of a cache stays charged to the budget
 * mutation: TAKE_KEEPS_CHARGE       what was charged and not found stays charged
 * mutation: DRAIN_KEEPS_COUNT       a drained cache still believes that it has its blocks
 */
#define PAGES 3
#define USERS 2
#define SLOTS 2
#define RETAINED_MAX 1
#define BUDGET 2
/* Blocks that a thread asks for. -DDEEP asks for one more on the other thread: 60 times the states. */
#ifdef DEEP
#define ROUNDS(me) 2
#else
#define ROUNDS(me) (2 - me)
#endif
#define NOBODY 255

typedef Cache {
  bool busy;
  bool listed; /* on the pool's list; off again once abandoned */
  byte count;
  byte blocks[SLOTS]
}

byte owner[PAGES] = NOBODY; /* who holds a block; not in the C++ code */
Cache cache[USERS];
bool pool_alive = true;  /* ThreadCache::pool is not null */
bool registry = false;   /* its mutex */
byte resident[PAGES];    /* the central list, oldest first */
byte resident_count = 0;
bool cold[PAGES];        /* Region::cold */
bool mapped = false;
byte putting = 0;        /* blocks that Put() has inserted and not yet evicted for */
byte budget_used = 0;
byte users_inside = USERS;
bool others_done = false;

chan mail = [1] of {byte}; /* blocks on their way to another thread */

inline Lock(mutex) { atomic { !mutex -> mutex = true } }
inline Unlock(mutex) { mutex = false }

/* A block lies in one place: a list, a cache, or with its owner. */
inline CheckPlaces() {
  d_step {
    p = 0;
    do
    :: p < PAGES ->
       places = (owner[p] != NOBODY) + cold[p];
       n = 0;
       do
       :: n < resident_count -> places = places + (resident[n] == p); n++
       :: else -> break
       od;
       assert(places <= 1);
       p++
    :: else -> break
    od;
    p = 0; n = 0; places = 0;
    assert(resident_count <= RETAINED_MAX + putting);
    assert(budget_used <= BUDGET)
  }
}

inline TryLock(c, ok) {
  if
  :: cache[c].busy -> ok = false /* the relaxed load */
  :: else ->
     atomic { ok = !cache[c].busy; cache[c].busy = true } /* the exchange */
  fi
}

inline Charge(blocks_wanted, ok) {
  atomic {
    ok = (budget_used + blocks_wanted <= BUDGET);
    if
    :: ok -> budget_used = budget_used + blocks_wanted
    :: else
    fi
  }
}

inline Refund(blocks_back) {
  atomic {
    assert(budget_used >= (blocks_back));
    budget_used = budget_used - (blocks_back)
  }
}

/* PagePool::Take: up to `wanted` blocks into got[]; `taken` says how many. */
inline Take(wanted) {
  want = wanted;
  Charge(want, charged);
  if
  :: !charged && want > 1 -> want = 1; Charge(1, charged)
  :: else
  fi;
  taken = 0;
  if
  :: !charged
  :: else ->
#ifdef HEAP_WITHOUT_MUTEX
     if
     :: resident_count > 0 -> n = resident_count; got[0] = resident[n - 1]; taken = 1;
        atomic { resident_count = n - 1; n = 0 }
     :: else
     fi;
#endif
     atomic {
       do
       :: taken < want && resident_count > 0 ->
          resident_count--;
          got[taken] = resident[resident_count];
          resident[resident_count] = 0;
          taken++
       :: else -> break
       od;
       if
       :: taken == 0 ->
          /* MapRegion: one region is all that the system has. */
          if
          :: !mapped -> mapped = true; p = 0;
             do
             :: p < PAGES -> cold[p] = true; p++
             :: else -> break
             od
          :: else
          fi;
          p = 0;
          do
          :: p < PAGES && !cold[p] -> p++
          :: else -> break
          od;
          if
          :: p < PAGES -> cold[p] = false; got[0] = p; taken = 1
          :: else
          fi;
          p = 0
       :: else
       fi
     };
#ifndef TAKE_KEEPS_CHARGE
     Refund((want - taken));
#endif
     want = 0
  fi;
  charged = false
}

/* MarkCold: a region without a block in use goes back as a whole. */
inline MarkCold(block) {
  assert(mapped && !cold[block]);
  cold[block] = true;
  p = 0;
  do
  :: p < PAGES && cold[p] -> p++
  :: else -> break
  od;
  if
  :: p == PAGES -> mapped = false; p = 0;
     do
     :: p < PAGES -> cold[p] = false; p++
     :: else -> break
     od
  :: else
  fi;
  p = 0
}

/* PageHeap::Evict of the oldest block; `given` says whether there was one. */
inline EvictOne(given) {
  atomic {
    if
    :: resident_count > 0 ->
       victim = resident[0];
#ifndef EVICT_LEAVES_VICTIMS
       n = 1;
       do
       :: n < resident_count -> resident[n - 1] = resident[n]; n++
       :: else -> break
       od;
       resident_count--;
       resident[resident_count] = 0;
       n = 0;
#endif
       given = true
    :: else -> given = false
    fi
  };
  if
  :: given ->
     skip; /* madvise(), without the mutex */
     atomic {
#ifdef EVICT_LEAVES_VICTIMS
       if
       :: resident_count > 0 ->
          n = 1;
          do
          :: n < resident_count -> resident[n - 1] = resident[n]; n++
          :: else -> break
          od;
          resident_count--;
          resident[resident_count] = 0;
          n = 0
       :: else
       fi;
#endif
       MarkCold(victim);
       victim = 0
     }
  :: else
  fi
}

/* PagePool::Put of the `count` blocks in out[]. */
inline Put(count) {
#ifdef HEAP_WITHOUT_MUTEX
  n = resident_count;
#endif
  atomic {
#ifdef HEAP_WITHOUT_MUTEX
    resident_count = n; n = 0;
#endif
    moved = 0;
    do
    :: moved < count -> resident[resident_count] = out[moved]; resident_count++; moved++
    :: else -> break
    od;
    putting = putting + count;
    excess = (resident_count > RETAINED_MAX -> resident_count - RETAINED_MAX : 0);
    moved = 0
  };
#ifndef PUT_DOES_NOT_EVICT
  do
  :: excess > 0 -> EvictOne(evicted);
     if
     :: evicted -> excess--
     :: else -> excess = 0
     fi
  :: else -> break
  od;
#endif
  atomic { putting = putting - count; excess = 0; evicted = false };
  CheckPlaces();
  Refund(count)
}

/* PagePool::Drain of a locked cache. */
inline Drain(c) {
  if
  :: cache[c].count > 0 ->
     atomic {
       drained = 0;
       do
       :: drained < cache[c].count -> out[drained] = cache[c].blocks[drained]; drained++
       :: else -> break
       od
     };
     Put(drained);
#ifdef SWEEP_KEEPS_CHARGE
     atomic { budget_used = budget_used + drained };
#endif
#ifndef DRAIN_KEEPS_COUNT
     cache[c].count = 0;
#endif
     drained = 0
  :: else
  fi
}

/* PagePool::SweepCaches. Which caches have been idle is left open. */
inline Sweep(all) {
  Lock(registry);
  c = 0;
  do
  :: c < USERS ->
     if
     :: cache[c].listed && all -> swept = true
     :: cache[c].listed && !all -> swept = true
     :: cache[c].listed && !all -> swept = false
     :: !cache[c].listed -> swept = false
     fi;
     if
     :: swept ->
#ifdef SWEEP_WITHOUT_LOCK
        Drain(c)
#else
        TryLock(c, swept);
        if
        :: swept -> Drain(c); cache[c].busy = false
        :: else
        fi
#endif
     :: else
     fi;
     c++
  :: else -> break
  od;
  c = 0; swept = false;
  Unlock(registry)
}

/* REQUIRES: the registry's mutex. Waits for the cache; whoever has it wants no other lock but the heap's. */
inline Abandon(a) {
  atomic { !cache[a].busy -> cache[a].busy = true };
#ifndef EXIT_FORGETS_CACHE
  Drain(a);
#endif
  cache[a].busy = false;
  cache[a].listed = false
}

inline PushOwn(block) {
  cache[me].blocks[cache[me].count] = block;
  cache[me].count++
}

/* PagePool::TryAllocate: a block in `mine`, or NOBODY. */
inline Allocate() {
  mine = NOBODY;
  TryLock(me, locked);
  if
  :: locked && cache[me].count > 0 ->
     d_step { cache[me].count--; mine = cache[me].blocks[cache[me].count];
              cache[me].blocks[cache[me].count] = 0 };
     cache[me].busy = false
  :: locked && cache[me].count == 0 ->
     Take(2); /* one for the caller and one for the cache */
     if
     :: taken > 0 -> mine = got[0];
        if
        :: taken > 1 -> PushOwn(got[1])
        :: else
        fi
     :: else
     fi;
#ifdef SWEEP_WHILE_HOLDING
     if
     :: taken == 0 -> Sweep(true); Take(1)
     :: else
     fi;
     if
     :: taken > 0 -> mine = got[0]
     :: else
     fi;
     cache[me].busy = false
#else
     cache[me].busy = false;
     if
     :: taken == 0 -> Sweep(true); Take(1);
        if
        :: taken > 0 -> mine = got[0]
        :: else
        fi
     :: else
     fi
#endif
  :: else ->
     Take(1);
     if
     :: taken == 0 -> Sweep(true); Take(1)
     :: else
     fi;
     if
     :: taken > 0 -> mine = got[0]
     :: else
     fi
  fi;
  atomic { taken = 0; got[0] = 0; got[1] = 0; locked = false };
  if
  :: mine != NOBODY ->
     atomic { assert(owner[mine] == NOBODY && mapped && !cold[mine]); owner[mine] = me };
     CheckPlaces()
  :: else
  fi
}

/* PagePool::Free of `block`, which the calling thread holds. */
inline Free(block) {
  atomic { assert(owner[block] == me && mapped && !cold[block]); owner[block] = NOBODY };
  TryLock(me, locked);
  if
  :: locked ->
     if
     :: cache[me].count == SLOTS ->
        /* The older half leaves. */
        out[0] = cache[me].blocks[0];
        Put(1);
        d_step { cache[me].blocks[0] = cache[me].blocks[1]; cache[me].count--;
                 cache[me].blocks[cache[me].count] = 0 }
     :: else
     fi;
     PushOwn(block);
     cache[me].busy = false
  :: else -> out[0] = block; Put(1)
  fi;
  atomic { out[0] = 0; out[1] = 0; locked = false; block = NOBODY }
}

#define WORK_VARIABLES \
  byte p, n, places, want, taken, victim, moved, excess, drained, c; \
  byte got[2]; byte out[2]; bool charged, evicted, swept, locked

proctype User(byte me) {
  WORK_VARIABLES;
  byte mine = NOBODY;
  byte round = 0;
  byte came = NOBODY;
  Lock(registry); /* MakeCache() */
  cache[me].listed = true;
  Unlock(registry);
  do
  :: round < ROUNDS(me) ->
     Allocate();
     if
     :: mine == NOBODY
     :: mine != NOBODY -> Free(mine)
     :: atomic { mine != NOBODY && nfull(mail) -> mail!mine; mine = NOBODY }
     fi;
     if
     :: mail?came -> atomic { assert(owner[came] != NOBODY); owner[came] = me }; Free(came)
     :: true
     fi;
     round++
  :: else -> break
  od;
  users_inside--;
  Lock(registry); /* ThreadExit */
#ifdef EXIT_AFTER_DESTROY
  assert(pool_alive);
#endif
  if
  :: pool_alive -> Abandon(me)
  :: else
  fi;
  Unlock(registry)
}

/* Decay(), as any thread's Free() or BackgroundDecay calls it; then stats(). */
proctype Decayer() {
  WORK_VARIABLES;
  Sweep(false);
  do
  :: EvictOne(evicted);
     if
     :: evicted
     :: else -> break
     fi
  :: break /* the rest is not old enough */
  od;
  evicted = false;
  Lock(registry);
  c = 0;
  do
  :: c < USERS ->
     if
     :: cache[c].listed -> atomic { !cache[c].busy -> cache[c].busy = true };
        cache[c].busy = false
     :: else
     fi;
     c++
  :: else -> break
  od;
  Unlock(registry);
  others_done = true
}

/* ~PagePool(), once nobody is inside; threads may be ending meanwhile. */
active proctype Destroyer() {
  WORK_VARIABLES;
  byte left = NOBODY;
  atomic { run User(0); run User(1); run Decayer() };
  users_inside == 0 && others_done;
  if
  :: mail?left -> owner[left] = NOBODY; out[0] = left; Put(1)
  :: empty(mail)
  fi;
  Lock(registry);
  c = 0;
  do
  :: c < USERS ->
     if
     :: cache[c].listed -> Abandon(c)
     :: else
     fi;
     c++
  :: else -> break
  od;
  pool_alive = false;
  Unlock(registry);
  assert(budget_used == 0);
  do
  :: EvictOne(evicted);
     if
     :: evicted
     :: else -> break
     fi
  od;
  assert(!mapped) /* all blocks came back, so the region went as a whole */
}
