------------------------------- MODULE FleetMembers -------------------------------
(* One concurrency limit, and the processes that divide it by heartbeats, as FleetState and
   its nodes do in Java. All processes have the same node id; their incarnations tell them
   apart. A process draws a new one when it starts, and whenever its lease has ended.
   Heartbeats and answers are delayed arbitrarily, overtake each other, arrive twice, or are
   lost. Processes are killed and start again, leave, and are evicted. A heartbeat may be
   granted any share that the coordinator's rule permits, so the promises do not depend on
   how demand is divided. The limit is constant; FallingLimit models one that falls.

   There is no clock. Instead, the lease of an incarnation ends at the coordinator only when
   its process has stopped to use it, as it does by its own clock, measured from when it
   sent its last answered heartbeat. Answers to heartbeats that arrived before are then
   worthless: the lease that they grant is measured from when these heartbeats were sent.
   Its requests may go on. What is reserved stays as a remnant, which ends when all of them
   have ended, as their time to live is to ensure. The release of a request whose process has
   died reaches another process, which reports it to the coordinator.

   The promises:
   - InFlightLimit: at most Limit requests are in flight, of all processes together.
   - GrantLimit: the shares that may be applied are at most Limit in sum.
   - Covered: what an incarnation may apply or has in flight is reserved for it.
   - ReservedLimit: at most Limit is reserved, if no process brings requests in flight along
     into a new incarnation.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, Sequences, TLC

CONSTANTS
  Processes,
  Incarnations,
  Limit,
  MaxBeats,  \* heartbeats that all processes send together
  Brings,    \* whether a process takes part again while requests are in flight
  Removed    \* names of safeguards that are switched off

Safeguards == {
  "grant what is free",            \* a share rises only by what is not reserved for others
  "own incarnation",               \* a process begins with an incarnation that is unused
  "new incarnation after a fence", \* one whose lease has ended does not use it again
  "first heartbeat joins",         \* a later one of an unknown incarnation has no effect
  "latest heartbeat only",         \* nor has one that was overtaken
  "acknowledge the latest only",   \* the number of an older grant releases nothing
  "in flight counts",              \* requests in flight are reserved even beyond a share
  "tombstone",                     \* requests of a process that left stay reserved
  "stop before leaving",           \* no request is admitted once the departure is sent
  "fence before the lease ends",   \* a process stops by itself, with its requests, in time
  "measure from sending",          \* its lease runs from when a heartbeat was sent
  "newer grants only",             \* a grant that was overtaken is ignored
  "answers to itself only",        \* so is an answer to another incarnation
  "remnant",                       \* what is reserved stays so when the lease ends
  "time to live",                  \* a remnant ends after its requests
  "releases of the dead only",     \* what a process has seen is not reported by another one
  "each release once"              \* a release elsewhere is counted once
}

ASSUME Limit > 0 /\ MaxBeats > 0 /\ Brings \in BOOLEAN
ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

None == "none"
NotSent == -1

VARIABLES
  current,   \* of each process: its incarnation, None if it does not take part
  share,     \* of each process: the share that it applies
  applied,   \* of each process: the number of the grant that it applies, 0 if none
  counted,   \* of each process: incarnations under which it admitted requests in flight
  inFlight,  \* of each process and incarnation
  used,      \* incarnations that were drawn
  beats,     \* of each incarnation: heartbeats that were sent; each may arrive at any time
  departure, \* of each incarnation: requests in flight when it left, NotSent if it has not
  member,    \* of each incarnation: what the coordinator stores
  elsewhere, \* of each incarnation: releases that another process is to report
  answers,   \* to each process: grants that may still arrive and would not be ignored
  worthless  \* of each process: how many heartbeats are too old for their answers to count

process == <<current, share, applied, counted, answers, worthless>>
vars == <<process, inFlight, used, beats, departure, member, elsewhere>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET n == CHOOSE n \in among : TRUE IN of[n] + Sum(of, among \ {n})

Unknown == [state |-> "unknown", share |-> 0, generation |-> 0, mayApply |-> 0,
            inFlight |-> 0, sequence |-> 0]

Init ==
  /\ current = [p \in Processes |-> None]
  /\ share = [p \in Processes |-> 0]
  /\ applied = [p \in Processes |-> 0]
  /\ counted = [p \in Processes |-> {}]
  /\ inFlight = [p \in Processes |-> [i \in Incarnations |-> 0]]
  /\ used = {}
  /\ beats = [i \in Incarnations |-> <<>>]
  /\ departure = [i \in Incarnations |-> NotSent]
  /\ member = [i \in Incarnations |-> Unknown]
  /\ elsewhere = [i \in Incarnations |-> 0]
  /\ answers = [p \in Processes |-> {}]
  /\ worthless = [p \in Processes |-> 0]

-----------------------------------------------------------------------------------
(* In a process *)

Own(p) == Sum(inFlight[p], counted[p])

(* An earlier incarnation without requests in flight admits no more. *)
StillCounted(p) == {i \in counted[p] : inFlight[p][i] > 0}

(* A process starts, or takes part again after its lease has ended. *)
Begin(p, i) ==
  /\ current[p] = None
  /\ i \notin used \/ ~Kept("own incarnation")
  /\ Brings \/ Own(p) = 0
  /\ current' = [current EXCEPT ![p] = i]
  /\ counted' = [counted EXCEPT ![p] = StillCounted(p) \cup {i}]
  /\ used' = used \cup {i}
  /\ UNCHANGED <<share, applied, answers, worthless, inFlight, beats, departure, member, elsewhere>>

Beat(p) ==
  LET i == current[p] IN
  /\ i # None
  /\ Sum([j \in Incarnations |-> Len(beats[j])], Incarnations) < MaxBeats
  /\ beats' = [beats EXCEPT ![i] =
                 Append(@, [inFlight |-> Own(p), acknowledged |-> applied[p]])]
  /\ UNCHANGED <<process, inFlight, used, departure, member, elsewhere>>

(* Grants that the process would not ignore, while it applies the last one of them. *)
Useful(grants, last) ==
  IF Kept("newer grants only") THEN {g \in grants : g.generation > last} ELSE grants

Apply(p, grant) ==
  /\ current[p] # None
  /\ grant \in answers[p]
  /\ share' = [share EXCEPT ![p] = grant.share]
  /\ applied' = [applied EXCEPT ![p] = grant.generation]
  /\ answers' = [answers EXCEPT ![p] = Useful(@, grant.generation)]
  /\ UNCHANGED <<current, counted, worthless, inFlight, used, beats, departure, member, elsewhere>>

Acquire(p) ==
  /\ current[p] # None
  /\ Own(p) < share[p]
  /\ inFlight' = [inFlight EXCEPT ![p][current[p]] = @ + 1]
  /\ UNCHANGED <<process, used, beats, departure, member, elsewhere>>

Release(p, i) ==
  /\ inFlight[p][i] > 0
  /\ inFlight' = [inFlight EXCEPT ![p][i] = @ - 1]
  /\ elsewhere' = IF i \notin counted[p] \/ ~Kept("releases of the dead only")
                  THEN [elsewhere EXCEPT ![i] = @ + 1]
                  ELSE elsewhere
  /\ UNCHANGED <<process, used, beats, departure, member>>

Stop(p, stillCounted) ==
  /\ current' = [current EXCEPT ![p] = None]
  /\ share' = [share EXCEPT ![p] = 0]
  /\ applied' = [applied EXCEPT ![p] = 0]
  /\ counted' = [counted EXCEPT ![p] = stillCounted]
  /\ answers' = IF Kept("answers to itself only") THEN [answers EXCEPT ![p] = {}] ELSE answers
  /\ worthless' = [worthless EXCEPT ![p] = 0]

(* The lease ends by the clock of the process, or the process is answered as evicted. *)
Fence(p) ==
  /\ current[p] # None
  /\ IF Kept("new incarnation after a fence")
     THEN Stop(p, StillCounted(p))
     ELSE /\ share' = [share EXCEPT ![p] = 0]
          /\ applied' = [applied EXCEPT ![p] = 0]
          /\ UNCHANGED <<current, counted, answers, worthless>>
  /\ UNCHANGED <<inFlight, used, beats, departure, member, elsewhere>>

(* The backend may continue with its requests. The next process knows nothing of them. *)
Kill(p) ==
  /\ current[p] # None
  /\ Stop(p, {})
  /\ UNCHANGED <<inFlight, used, beats, departure, member, elsewhere>>

Leave(p) ==
  LET i == current[p] IN
  /\ i # None
  /\ departure[i] = NotSent
  /\ departure' = [departure EXCEPT ![i] = Own(p)]
  /\ IF Kept("stop before leaving") THEN Stop(p, {}) ELSE UNCHANGED process
  /\ UNCHANGED <<inFlight, used, beats, member, elsewhere>>

-----------------------------------------------------------------------------------
(* At the coordinator *)

Reserved(m) == IF Kept("in flight counts") THEN Max(m.mayApply, m.inFlight) ELSE m.mayApply

ReservedOfAll == Sum([i \in Incarnations |-> Reserved(member[i])], Incarnations)

Acknowledges(beat, m) ==
  IF Kept("acknowledge the latest only")
  THEN beat.acknowledged = m.generation
  ELSE beat.acknowledged > 0

(* A new member may bring requests along. Later, no more can be in flight than is reserved. *)
Reported(m, k, beat) ==
  [m EXCEPT
    !.state = "member",
    !.sequence = k,
    !.mayApply = IF Acknowledges(beat, m) THEN m.share ELSE @,
    !.inFlight = IF m.state = "unknown" THEN beat.inFlight ELSE Min(beat.inFlight, Reserved(m))]

Granted(m, new) ==
  [m EXCEPT
    !.share = new,
    !.generation = IF @ = 0 \/ new # m.share THEN @ + 1 ELSE @,
    !.mayApply = Max(@, new)]

Answer(i, m) == [incarnation |-> i, generation |-> m.generation, share |-> m.share]

Recorded(m, k) ==
  CASE m.state = "unknown" -> k = 1 \/ ~Kept("first heartbeat joins")
    [] m.state = "member" -> k > m.sequence \/ ~Kept("latest heartbeat only")
    [] m.state = "left" -> FALSE

(* The k-th heartbeat arrives, for the first time or again. *)
Heartbeat(i, k, new) ==
  LET m == member[i]
      free == Limit - (ReservedOfAll - Reserved(m))
      granted == Granted(Reported(m, k, beats[i][k]), new) IN
  /\ k <= Len(beats[i])
  /\ Recorded(m, k)
  /\ new <= Max(free, m.share) \/ ~Kept("grant what is free")
  /\ member' = [member EXCEPT ![i] = granted]
  /\ answers' = [p \in Processes |->
                   IF current[p] = i /\ k > worthless[p]
                   THEN answers[p] \cup Useful({Answer(i, granted)}, applied[p])
                   ELSE answers[p]]
  /\ UNCHANGED <<current, share, applied, counted, worthless, inFlight, used, beats, departure, elsewhere>>

Left(m, requests) ==
  [Unknown EXCEPT !.state = "left", !.inFlight = requests, !.sequence = m.sequence]

(* A departure arrives, for the first time or again. *)
Depart(i) ==
  LET m == member[i] IN
  /\ departure[i] # NotSent
  /\ m.state = "member"
  /\ member' = [member EXCEPT ![i] =
                  IF Kept("tombstone") THEN Left(m, Min(departure[i], Reserved(m))) ELSE Unknown]
  /\ UNCHANGED <<process, inFlight, used, beats, departure, elsewhere>>

Stopped(i) == \A p \in Processes : current[p] = i => applied[p] = 0

Ended(i) == \A p \in Processes : inFlight[p][i] = 0

(* The lease of an incarnation ends. *)
Expire(i) ==
  LET m == member[i] IN
  /\ m.state = "member"
  /\ Stopped(i) \/ ~Kept("fence before the lease ends")
  /\ member' = [member EXCEPT ![i] =
                  IF Kept("remnant") /\ Reserved(m) > 0 THEN Left(m, Reserved(m)) ELSE Unknown]
  /\ IF Kept("measure from sending")
     THEN /\ answers' = [p \in Processes |-> {a \in answers[p] : a.incarnation # i}]
          /\ worthless' = [p \in Processes |->
                             IF current[p] = i
                             THEN Max(worthless[p], member[i].sequence)
                             ELSE worthless[p]]
     ELSE UNCHANGED <<answers, worthless>>
  /\ UNCHANGED <<current, share, applied, counted, inFlight, used, beats, departure, elsewhere>>

(* The time to live of the requests has ended, of an incarnation that is no member any more. *)
Forget(i) ==
  /\ member[i].state = "left"
  /\ Ended(i) \/ ~Kept("time to live")
  /\ member' = [member EXCEPT ![i] = Unknown]
  /\ elsewhere' = [elsewhere EXCEPT ![i] = 0]
  /\ UNCHANGED <<process, inFlight, used, beats, departure>>

(* A release that reached another process arrives at the coordinator. *)
CountRelease(i) ==
  /\ member[i].state = "left"
  /\ elsewhere[i] > 0
  /\ member' = [member EXCEPT ![i].inFlight = Max(0, @ - 1)]
  /\ elsewhere' = IF Kept("each release once") THEN [elsewhere EXCEPT ![i] = @ - 1] ELSE elsewhere
  /\ UNCHANGED <<process, inFlight, used, beats, departure>>

Next ==
  \/ \E p \in Processes :
       \/ Beat(p) \/ Acquire(p) \/ Fence(p) \/ Kill(p) \/ Leave(p)
       \/ \E i \in Incarnations : Begin(p, i) \/ Release(p, i)
       \/ \E grant \in answers[p] : Apply(p, grant)
  \/ \E i \in Incarnations :
       \/ Depart(i) \/ Expire(i) \/ Forget(i) \/ CountRelease(i)
       \/ \E k \in 1..MaxBeats, new \in 0..Limit : Heartbeat(i, k, new)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Processes) \cup Permutations(Incarnations)

-----------------------------------------------------------------------------------
(* Promises *)

InFlightOf(i) == Sum([p \in Processes |-> inFlight[p][i]], Processes)

InFlightLimit == Sum([i \in Incarnations |-> InFlightOf(i)], Incarnations) <= Limit

GrantLimit == Sum([i \in Incarnations |-> member[i].mayApply], Incarnations) <= Limit

Covered ==
  /\ \A i \in Incarnations : InFlightOf(i) <= Reserved(member[i])
  /\ \A p \in Processes : share[p] > 0 => share[p] <= member[current[p]].mayApply

ReservedLimit == ReservedOfAll <= Limit

TypeOK ==
  /\ share \in [Processes -> 0..Limit]
  /\ applied \in [Processes -> 0..MaxBeats]
  /\ \A i \in Incarnations :
       /\ member[i].generation <= MaxBeats
       /\ member[i].sequence <= Len(beats[i])
       /\ member[i].share <= member[i].mayApply

-----------------------------------------------------------------------------------
(* Must be violated, to show that the model reaches the interesting states. *)

NeverTheWholeLimit == Sum([i \in Incarnations |-> InFlightOf(i)], Incarnations) < Limit

(* An incarnation that no process uses any more becomes a member, by a late heartbeat. *)
NeverAGhost ==
  [][\A i \in Incarnations :
       member[i].state = "unknown" /\ member'[i].state = "member" =>
         \E p \in Processes : current[p] = i]_vars

NeverATombstone ==
  \A i \in Incarnations :
    member[i].state = "left" /\ departure[i] # NotSent => member[i].inFlight = 0

(* A release elsewhere makes room for a request of another process. *)
NeverCountedElsewhere ==
  [][\A i \in Incarnations : elsewhere'[i] < elsewhere[i] => member'[i].state = "unknown"]_vars

(* A lower share is granted, and the larger one is still reserved. *)
NeverHeldBack == \A i \in Incarnations : member[i].mayApply = member[i].share

(* More requests are in flight than the share allows, until they end. *)
NeverAboveShare == \A i \in Incarnations : member[i].inFlight <= member[i].mayApply

(* A process takes part again while requests of its last incarnation are in flight. *)
NeverBrought == \A p \in Processes : current[p] # None => counted[p] = {current[p]}

(* What a process brings along is reserved twice, until its last lease ends. *)
NeverReservedTwice == ReservedOfAll <= Limit
===================================================================================
