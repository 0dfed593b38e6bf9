--------------------------- MODULE GaleHeartbeatLeasing ---------------------------
(* Nodes divide one concurrency limit by heartbeats. A heartbeat is one step: the
   coordinator sees the requests in flight as they are, and the node has its new share at
   once. Nodes join and leave; the requests of a node that leaves end with it.

   This is the published model. Equal state counts show that our runs of TLC check the same
   one. GaleHeartbeatHandoff has heartbeats that take time; FleetMembers models the
   implementation.

   Each safeguard that the promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Nodes,
  Limit,   \* requests that all nodes together may have in flight
  Target,  \* which share a node is to get: "rounded up", "exact" or "by demand"
  Removed  \* names of safeguards that are switched off

Safeguards == {
  "reserve for the others", \* a node gets at most what is not reserved for others
  "in flight counts"        \* requests in flight are reserved even beyond a node's share
}

ASSUME Nodes # {} /\ Limit \in Nat
ASSUME Target \in {"rounded up", "exact", "by demand"}
ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  active,   \* nodes that send heartbeats
  share,    \* of each node
  inFlight  \* of each node

vars == <<active, share, inFlight>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET n == CHOOSE n \in among : TRUE IN of[n] + Sum(of, among \ {n})

Init ==
  /\ active \in SUBSET Nodes \ {{}}
  /\ share = [n \in Nodes |-> 0]
  /\ inFlight = [n \in Nodes |-> 0]

-----------------------------------------------------------------------------------
(* Which share a node is to get, before what is reserved for others is considered *)

(* Any order will do, if it is always the same. *)
Place ==
  CHOOSE place \in [Nodes -> 1..Cardinality(Nodes)] :
    \A m, n \in Nodes : m # n => place[m] # place[n]

(* An equal part; the first ones get one more if there is a remainder. *)
Part(of, n, among) ==
  LET rank == Cardinality({m \in among : Place[m] < Place[n]})
  IN of \div Cardinality(among) + (IF rank < of % Cardinality(among) THEN 1 ELSE 0)

Satisfied == {n \in active : inFlight[n] < share[n]}

(* A node that does not use its share keeps what it uses and one more. The others divide
   the rest. Each gets at least one, so that it can show its demand. *)
ByDemand(n) ==
  IF n \in Satisfied THEN inFlight[n] + 1
  ELSE LET used == Sum([m \in Nodes |-> inFlight[m] + 1], Satisfied)
       IN Max(1, Part(Max(0, Limit - used), n, active \ Satisfied))

TargetOf(n) ==
  CASE Target = "rounded up" -> (Limit + Cardinality(active) - 1) \div Cardinality(active)
    [] Target = "exact" -> Part(Limit, n, active)
    [] Target = "by demand" -> ByDemand(n)

-----------------------------------------------------------------------------------
Reserved(n) == IF Kept("in flight counts") THEN Max(share[n], inFlight[n]) ELSE share[n]

Free(n) ==
  IF Kept("reserve for the others")
  THEN Limit - Sum([m \in Nodes |-> Reserved(m)], active \ {n})
  ELSE Limit

Heartbeat(n) ==
  /\ n \in active
  /\ share' = [share EXCEPT ![n] = Max(0, Min(TargetOf(n), Free(n)))]
  /\ UNCHANGED <<active, inFlight>>

Join(n) ==
  /\ n \notin active
  /\ active' = active \cup {n}
  /\ share' = [share EXCEPT ![n] = 0]
  /\ UNCHANGED inFlight

Leave(n) ==
  /\ n \in active
  /\ active # {n}
  /\ active' = active \ {n}
  /\ share' = [share EXCEPT ![n] = 0]
  /\ inFlight' = [inFlight EXCEPT ![n] = 0]

Acquire(n) ==
  /\ n \in active
  /\ inFlight[n] < share[n]
  /\ inFlight' = [inFlight EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<active, share>>

Release(n) ==
  /\ inFlight[n] > 0
  /\ inFlight' = [inFlight EXCEPT ![n] = @ - 1]
  /\ UNCHANGED <<active, share>>

Next == \E n \in Nodes : Heartbeat(n) \/ Join(n) \/ Leave(n) \/ Acquire(n) \/ Release(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
TypeOK ==
  /\ active \in SUBSET Nodes \ {{}}
  /\ share \in [Nodes -> 0..Limit]
  /\ inFlight \in [Nodes -> 0..Limit]

GlobalCap == Sum(share, active) <= Limit

InflightCap == Sum(inFlight, active) <= Limit

(* Must be violated: both bounds are reached. *)
GlobalCapTight == Sum(share, active) < Limit
InflightCapTight == Sum(inFlight, active) < Limit

(* Must be violated: a node joins while another one uses what it is to get. *)
NeverHeldBack ==
  [][\A n \in Nodes : Heartbeat(n) => share'[n] >= Min(TargetOf(n), Limit)]_vars
===================================================================================
