--------------------------- MODULE GaleHeartbeatHandoff ---------------------------
(* GaleHeartbeatLeasing with heartbeats that take time. The coordinator grants shares to a
   node in order. The node receives them late, and may receive a later one first. Its
   reports arrive late too: how many requests it has in flight, and the last grant that it
   applies. A grant may be applied until a later one is acknowledged, so the largest of
   these grants is reserved.

   This is the published model. Equal state counts show that our runs of TLC check the same
   one. FleetMembers models the implementation.

   Each safeguard that the promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Nodes,
  Limit,      \* requests that all nodes together may have in flight
  MaxGrants,  \* grants to a node until it leaves; if Trimmed, that are stored at a time
  Trimmed,    \* whether grants before the last acknowledged one are dropped
  Removed     \* names of safeguards that are switched off

Safeguards == {
  "reserve the largest", \* of the grants that may be applied, not only the last one
  "reserve the applied", \* and not only the last acknowledged one
  "in flight counts",    \* requests in flight are reserved even beyond a node's share
  "one snapshot"         \* a report has both numbers as they were at one instant
}

ASSUME Nodes # {} /\ Limit \in Nat /\ MaxGrants > 0
ASSUME Trimmed \in BOOLEAN
ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  active,           \* nodes that send heartbeats
  grants,           \* to each node, in the order in which they were made
  applied,          \* of each node: number of the grant that it applies, 0 if none
  inFlight,         \* of each node
  acknowledged,     \* of each node, at the coordinator: number of the last grant reported
  reportedInFlight  \* of each node, at the coordinator

atCoordinator == <<active, grants, acknowledged, reportedInFlight>>
vars == <<active, grants, applied, inFlight, acknowledged, reportedInFlight>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET n == CHOOSE n \in among : TRUE IN of[n] + Sum(of, among \ {n})

Init ==
  /\ active \in SUBSET Nodes \ {{}}
  /\ grants = [n \in Nodes |-> <<>>]
  /\ applied = [n \in Nodes |-> 0]
  /\ inFlight = [n \in Nodes |-> 0]
  /\ acknowledged = [n \in Nodes |-> 0]
  /\ reportedInFlight = [n \in Nodes |-> 0]

ShareOf(n, number) == IF number = 0 THEN 0 ELSE grants[n][number]

Share(n) == ShareOf(n, applied[n])
LastGrant(n) == ShareOf(n, Len(grants[n]))

LargestFrom(n, first) ==
  LET shares == {0} \cup {grants[n][i] : i \in Max(1, first)..Len(grants[n])}
  IN CHOOSE most \in shares : \A other \in shares : other <= most

-----------------------------------------------------------------------------------
(* At the coordinator *)

MayApply(n) ==
  CASE Kept("reserve the largest") -> LargestFrom(n, acknowledged[n])
    [] Kept("reserve the applied") -> Max(LastGrant(n), ShareOf(n, acknowledged[n]))
    [] OTHER -> LastGrant(n)

Reserved(n) ==
  IF Kept("in flight counts") THEN Max(MayApply(n), reportedInFlight[n]) ELSE MayApply(n)

Target == (Limit + Cardinality(active) - 1) \div Cardinality(active)

Grant(n) ==
  LET free == Limit - Sum([m \in Nodes |-> Reserved(m)], active \ {n}) IN
  /\ n \in active
  /\ Len(grants[n]) < MaxGrants
  /\ grants' = [grants EXCEPT ![n] = Append(@, Max(0, Min(Target, free)))]
  /\ UNCHANGED <<active, applied, inFlight, acknowledged, reportedInFlight>>

(* A report that was on its way arrives. *)
ReportAll(n) ==
  /\ reportedInFlight' = [reportedInFlight EXCEPT ![n] = inFlight[n]]
  /\ IF Trimmed /\ applied[n] > 0
     THEN /\ grants' = [grants EXCEPT ![n] = SubSeq(@, applied[n], Len(@))]
          /\ applied' = [applied EXCEPT ![n] = 1]
          /\ acknowledged' = [acknowledged EXCEPT ![n] = 1]
     ELSE /\ acknowledged' = [acknowledged EXCEPT ![n] = applied[n]]
          /\ UNCHANGED <<grants, applied>>
  /\ UNCHANGED <<active, inFlight>>

(* A report whose two numbers were read at different times. *)
ReportInPart(n) ==
  /\ \/ /\ acknowledged' = [acknowledged EXCEPT ![n] = applied[n]]
        /\ UNCHANGED reportedInFlight
     \/ /\ reportedInFlight' = [reportedInFlight EXCEPT ![n] = inFlight[n]]
        /\ UNCHANGED acknowledged
  /\ UNCHANGED <<active, grants, applied, inFlight>>

Report(n) ==
  /\ n \in active
  /\ <<acknowledged[n], reportedInFlight[n]>> # <<applied[n], inFlight[n]>>
  /\ IF Kept("one snapshot") THEN ReportAll(n) ELSE ReportInPart(n)

Forget(n) ==
  /\ grants' = [grants EXCEPT ![n] = <<>>]
  /\ applied' = [applied EXCEPT ![n] = 0]
  /\ inFlight' = [inFlight EXCEPT ![n] = 0]
  /\ acknowledged' = [acknowledged EXCEPT ![n] = 0]
  /\ reportedInFlight' = [reportedInFlight EXCEPT ![n] = 0]

Join(n) ==
  /\ n \notin active
  /\ active' = active \cup {n}
  /\ Forget(n)

Leave(n) ==
  /\ n \in active
  /\ active # {n}
  /\ active' = active \ {n}
  /\ Forget(n)

-----------------------------------------------------------------------------------
(* At a node *)

(* Any later grant may arrive first. One that arrives after a later one is ignored. *)
Apply(n) ==
  /\ n \in active
  /\ \E number \in (applied[n] + 1)..Len(grants[n]) :
       applied' = [applied EXCEPT ![n] = number]
  /\ UNCHANGED <<atCoordinator, inFlight>>

Acquire(n) ==
  /\ n \in active
  /\ inFlight[n] < Share(n)
  /\ inFlight' = [inFlight EXCEPT ![n] = @ + 1]
  /\ UNCHANGED <<atCoordinator, applied>>

Release(n) ==
  /\ inFlight[n] > 0
  /\ inFlight' = [inFlight EXCEPT ![n] = @ - 1]
  /\ UNCHANGED <<atCoordinator, applied>>

Next ==
  \E n \in Nodes :
    Grant(n) \/ Report(n) \/ Join(n) \/ Leave(n) \/ Apply(n) \/ Acquire(n) \/ Release(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
TypeOK ==
  /\ active \in SUBSET Nodes \ {{}}
  /\ inFlight \in [Nodes -> 0..Limit]
  /\ reportedInFlight \in [Nodes -> 0..Limit]
  /\ \A n \in Nodes :
       /\ Len(grants[n]) <= MaxGrants
       /\ \A i \in 1..Len(grants[n]) : grants[n][i] \in 0..Limit
       /\ applied[n] <= Len(grants[n])
       /\ acknowledged[n] <= applied[n]

GlobalCap == Sum([n \in Nodes |-> LastGrant(n)], active) <= Limit

InflightCap == Sum(inFlight, active) <= Limit

(* Must be violated: both bounds are reached. *)
GlobalCapTight == Sum([n \in Nodes |-> LastGrant(n)], active) < Limit
InflightCapTight == Sum(inFlight, active) < Limit
===================================================================================
