/* The counts of a ScopePool (cpp/harena/scope/internal/scope_counts.h): stats() must never say that more scopes ended
 * than were made, which scopes_live() would show as nearly 2^64.
 *
 * A thread makes scopes; another one, or the same, ends them, each adding to a counter of its own with a load
 * and a store; a third asks for the statistics and adds up. Loads may read any value that is not older than what
 * their thread knows of that counter; a store to `ended` publishes, by its release, how much of `made` its
 * thread has seen. The values of a counter are its modification order.
 *
 * `ended` is several counters per thread there, one per power of two of bytes, all read before `made`: what is
 * said of one holds for their sum, since each end brings along that its own scope was made.
 *
 * Invariant: scopes_ended <= scopes_made in every snapshot; scopes_made never above what were made.
 *
 * mutation: RELAXED_ENDED   counting an end releases nothing
 * mutation: RELAXED_STATS   stats() acquires nothing when it reads `ended`
 * mutation: MADE_FIRST      stats() reads `made` before `ended`
 * mutation: MADE_LATE       a scope is counted after it was handed out
 */
#define SCOPES 2

byte made = 0;
#define VALUES (SCOPES + 1)
byte ended[2]; /* by the thread that makes, and by the other */
byte ended_publishes[6]; /* of each, with each value: what acquiring it tells of `made` */
chan scopes = [SCOPES] of {byte}; /* handed over with what the sender has seen of `made` */

inline CountMade() {
  atomic { made++; knows = made }
}

inline CountEnded(thread) {
  atomic {
    ended[thread]++;
#ifndef RELAXED_ENDED
    ended_publishes[thread * VALUES + ended[thread]] = knows
#endif
  }
}

active proctype Making() {
  byte knows = 0;
  byte i = 0;
  do
  :: i < SCOPES ->
#ifdef MADE_LATE
     if
     :: scopes!knows; CountMade()
     :: CountEnded(0); CountMade()
     fi;
#else
     CountMade();
     if
     :: scopes!knows /* ends elsewhere */
     :: CountEnded(0)
     fi;
#endif
     i++
  :: else -> break
  od
}

active proctype Ending() {
  byte knows = 0;
  byte came;
end:
  do
  :: atomic { scopes?came -> knows = (came > knows -> came : knows); came = 0 };
     CountEnded(1)
  od
}

active proctype Asking() {
  byte knows_made = 0;
  byte knows_ended[2];
  byte stats_made, stats_ended;
  byte thread, value;
  byte round = 0;
  do
  :: round < 2 ->
#ifdef MADE_FIRST
     atomic {
       stats_made = knows_made;
       do
       :: stats_made < made -> stats_made++
       :: break
       od;
       knows_made = stats_made
     };
#endif
     stats_ended = 0;
     for (thread : 0 .. 1) {
       atomic {
         value = knows_ended[thread];
         do
         :: value < ended[thread] -> value++
         :: break
         od;
         knows_ended[thread] = value;
         stats_ended = stats_ended + value;
#ifndef RELAXED_STATS
         value = ended_publishes[thread * VALUES + value];
         knows_made = (value > knows_made -> value : knows_made)
#endif
       }
     };
#ifndef MADE_FIRST
     atomic {
       stats_made = knows_made;
       do
       :: stats_made < made -> stats_made++
       :: break
       od;
       knows_made = stats_made
     };
#endif
     assert(stats_ended <= stats_made && stats_made <= made);
     round++
  :: else -> break
  od
}
