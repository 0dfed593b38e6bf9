------------------------------- MODULE FallingLimit -------------------------------
(* Shares of a concurrency limit that falls and rises, as FleetState grants them in Java:

     share = min(target, max(limit - reserved for others, share before))

   The limit, and the target of each node, may change at any time. What is reserved for a
   node is at least its share. It falls whenever the node acknowledges a lower share or its
   requests end: FleetMembers models how.

   The promises:
   - NeverRises: the reservations never rise in sum beyond the limit, nor do the shares.
   - Divided: the shares are at most the limit in sum once each node has sent a heartbeat
     since the limit or a target changed. This has two premises: targets are at most the
     limit in sum, and they rest between the heartbeats of different nodes.
   - FallsToTarget: a heartbeat lowers a share to its target and never below, so no share
     falls to 0 because of a limit that fell.

   Each safeguard or premise that these promises depend on has a name. A name in Removed
   switches it off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,
  MaxLimit,
  Removed   \* names of safeguards and premises that are switched off

Safeguards == {
  "at most the target",   \* a node gets no more, although more may be free
  "keep what it has",     \* a share does not fall because others hold too much
  "rise into free only",  \* a share rises only by what is not reserved for others
  "targets within limit", \* targets are at most the limit in sum
  "targets at rest"       \* heartbeats count from the last change of a target
}

ASSUME MaxLimit > 0 /\ Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  limit,
  target,    \* of each node: the share that it is to get
  share,     \* of each node
  reserved,  \* for each node
  upToDate   \* nodes that have sent a heartbeat since the limit or a target changed

vars == <<limit, target, share, reserved, upToDate>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET n == CHOOSE n \in among : TRUE IN of[n] + Sum(of, among \ {n})

Shares == Sum(share, Nodes)
Reserved == Sum(reserved, Nodes)

Targets(of) ==
  {targets \in [Nodes -> 0..of] : Sum(targets, Nodes) <= of \/ ~Kept("targets within limit")}

Init ==
  /\ limit \in 1..MaxLimit
  /\ target \in Targets(limit)
  /\ share = [n \in Nodes |-> 0]
  /\ reserved = [n \in Nodes |-> 0]
  /\ upToDate = {}

Change ==
  /\ limit' \in 1..MaxLimit
  /\ target' \in Targets(limit')
  /\ upToDate' = IF limit' # limit \/ Kept("targets at rest") THEN {} ELSE upToDate
  /\ UNCHANGED <<share, reserved>>

Heartbeat(n) ==
  LET free == Max(0, limit - (Reserved - reserved[n]))
      kept == IF Kept("keep what it has") THEN Max(free, share[n]) ELSE free
      most == IF Kept("rise into free only") THEN kept ELSE limit
      next == IF Kept("at most the target") THEN Min(target[n], most) ELSE most IN
  /\ share' = [share EXCEPT ![n] = next]
  /\ reserved' = [reserved EXCEPT ![n] = Max(@, next)]
  /\ upToDate' = upToDate \cup {n}
  /\ UNCHANGED <<limit, target>>

(* A lower share is acknowledged, or requests end. *)
Free(n) ==
  /\ reserved[n] > share[n]
  /\ reserved' = [reserved EXCEPT ![n] = @ - 1]
  /\ UNCHANGED <<limit, target, share, upToDate>>

(* The lease of a node ends. It may join again. *)
Expire(n) ==
  /\ share' = [share EXCEPT ![n] = 0]
  /\ reserved' = [reserved EXCEPT ![n] = 0]
  /\ upToDate' = upToDate \cup {n}
  /\ UNCHANGED <<limit, target>>

Next == Change \/ \E n \in Nodes : Heartbeat(n) \/ Free(n) \/ Expire(n)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Nodes)

-----------------------------------------------------------------------------------
TypeOK ==
  /\ limit \in 1..MaxLimit
  /\ target \in Targets(limit)
  /\ reserved \in [Nodes -> 0..MaxLimit]
  /\ \A n \in Nodes : share[n] \in 0..reserved[n]

Divided == upToDate = Nodes => Shares <= limit

NeverRises ==
  [][Reserved' <= Max(limit', Reserved) /\ Shares' <= Max(limit', Shares)]_vars

FallsToTarget ==
  [][\A n \in Nodes : Heartbeat(n) => share'[n] >= Min(share[n], target[n])]_vars

-----------------------------------------------------------------------------------
(* Must be violated, to show that the model reaches the interesting states. *)

NeverTheWholeLimit == Shares < MaxLimit

NeverOver == Shares <= limit

(* Shares are within the limit, and reservations are not. *)
NeverHeldBack == ~(Shares <= limit /\ Reserved > limit)
===================================================================================
