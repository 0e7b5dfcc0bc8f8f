/* The counts of a ScopePool (cpp/harena/scope/scope_pool.cc): stats() must never say that more scopes ended
 * than were made, which scopes_live() would show as nearly 2^64.
 *
 * A thread makes scopes; another one, or the same, ends them; a third asks for the statistics. Loads may read
 * any value that is not older than what their thread knows of that counter; `ended` publishes, by its release,
 * how much of `made` its thread has seen. The values of a counter are its modification order.
 *
 * `ended` is several counters there, one per power of two of bytes, all read before `made`: what is said of
 * one holds for their sum, since each end brings along that its own scope was made.
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
byte ended = 0;
byte ended_publishes[3]; /* with each value of `ended`, what acquiring it tells of `made` */
chan scopes = [SCOPES] of {byte}; /* handed over with what the sender has seen of `made` */

inline CountMade() {
  atomic { made++; knows = made }
}

inline CountEnded() {
  atomic {
    ended++;
    ended_publishes[ended] = ended_publishes[ended - 1]; /* the release sequence goes on */
#ifndef RELAXED_ENDED
    ended_publishes[ended] = (knows > ended_publishes[ended] -> knows : ended_publishes[ended])
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
     :: CountEnded(); CountMade()
     fi;
#else
     CountMade();
     if
     :: scopes!knows /* ends elsewhere */
     :: CountEnded()
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
     CountEnded()
  od
}

active proctype Asking() {
  byte knows_made = 0;
  byte knows_ended = 0;
  byte stats_made, stats_ended;
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
     atomic {
       stats_ended = knows_ended;
       do
       :: stats_ended < ended -> stats_ended++
       :: break
       od;
       knows_ended = stats_ended;
#ifndef RELAXED_STATS
       knows_made = (ended_publishes[stats_ended] > knows_made -> ended_publishes[stats_ended] : knows_made)
#endif
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
