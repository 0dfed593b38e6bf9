------------------------------- MODULE SteeringLease ------------------------------
(* One node at a time computes the limit of a fleet: it steers. It holds a lease, which its
   heartbeats renew. The heartbeat of another node takes over a lease that has ended, and
   begins an epoch. A node publishes the limits that it computed under the epoch in which it
   computed them. It may do so late: after another node took over, or when it steers again.
   Nodes die, and one more heartbeat of a dead node may arrive.

   The promises:
   - Current: a limit is accepted only if it was computed since the last node took over.
   - Undisturbed: a node that sends a heartbeat at least every Lease ticks goes on steering.
   - Replaced: a node that sends no heartbeat steers for at most Lease + 1 ticks more, if a
     heartbeat of some living node arrives in each tick.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,
  Lease,     \* ticks without a heartbeat after which others may take over
  MaxTerms,  \* how many times nodes take over
  Removed    \* names of safeguards that are switched off

Safeguards == {
  "current epoch only", \* a limit of another epoch is not accepted
  "new epoch",          \* a node that takes over begins an epoch
  "holder only",        \* a limit of another node is not accepted
  "while it lasts",     \* a lease is not taken over before it has ended
  "lease ends"          \* without heartbeats of its holder
}

ASSUME Lease > 0 /\ MaxTerms > 0
ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

None == "none"
NoLimit == [epoch |-> 0, term |-> 0]

VARIABLES
  alive,     \* nodes that have not died
  late,      \* dead nodes of which a heartbeat may still arrive
  holder,    \* the node that took over last, None before
  epoch,     \* under which it did
  term,      \* how many times a node took over; the protocol does not know it
  silent,    \* ticks since the holder's last heartbeat
  arrived,   \* whether a heartbeat of a living node has arrived in this tick
  computed,  \* of each node: the limits that it computed; each may be published at any time
  accepted   \* the term in which the fleet's limit was computed, 0 before the first one

vars == <<alive, late, holder, epoch, term, silent, arrived, computed, accepted>>

Init ==
  /\ alive = Nodes
  /\ late = {}
  /\ holder = None
  /\ epoch = 0
  /\ term = 0
  /\ silent = 0
  /\ arrived = FALSE
  /\ computed = [n \in Nodes |-> {}]
  /\ accepted = 0

Accepts(n, limit) ==
  /\ limit # NoLimit
  /\ n = holder \/ ~Kept("holder only")
  /\ limit.epoch = epoch \/ ~Kept("current epoch only")

TakesOver(n) ==
  /\ n # holder
  /\ \/ holder = None
     \/ silent > Lease /\ Kept("lease ends")
     \/ ~Kept("while it lasts")

NextEpoch == IF Kept("new epoch") \/ epoch = 0 THEN epoch + 1 ELSE epoch

(* A heartbeat arrives, with a limit or without. A node that takes over computes a limit as
   soon as it is answered. *)
Heartbeat(n, limit) ==
  /\ n \in alive \cup late
  /\ late' = late \ {n}
  /\ arrived' = (arrived \/ n \in alive)
  /\ accepted' = IF Accepts(n, limit) THEN limit.term ELSE accepted
  /\ IF TakesOver(n)
     THEN /\ term < MaxTerms
          /\ holder' = n
          /\ epoch' = NextEpoch
          /\ term' = term + 1
          /\ silent' = 0
          /\ computed' =
               [computed EXCEPT ![n] = @ \cup {[epoch |-> NextEpoch, term |-> term + 1]}]
     ELSE /\ silent' = IF n = holder THEN 0 ELSE silent
          /\ UNCHANGED <<holder, epoch, term, computed>>
  /\ UNCHANGED alive

Die(n) ==
  /\ n \in alive
  /\ alive # {n}
  /\ alive' = alive \ {n}
  /\ late' = late \cup {n}
  /\ UNCHANGED <<holder, epoch, term, silent, arrived, computed, accepted>>

Tick ==
  /\ arrived
  /\ term < MaxTerms
  /\ silent <= Lease + 1
  /\ silent' = silent + 1
  /\ arrived' = FALSE
  /\ UNCHANGED <<alive, late, holder, epoch, term, computed, accepted>>

Next ==
  \/ Tick
  \/ \E n \in Nodes :
       \/ Die(n)
       \/ \E limit \in {NoLimit} \cup computed[n] : Heartbeat(n, limit)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Nodes)

-----------------------------------------------------------------------------------
TypeOK ==
  /\ alive \subseteq Nodes
  /\ late \subseteq Nodes \ alive
  /\ epoch \in 0..term
  /\ term \in 0..MaxTerms
  /\ accepted \in 0..term

Current == [][accepted' # accepted => accepted' = term]_vars

Undisturbed == [][holder' # holder => holder = None \/ silent > Lease]_vars

Replaced == silent <= Lease + 1

-----------------------------------------------------------------------------------
(* Must be violated, to show that the model reaches the interesting states. *)

NeverAgain == \A n \in Nodes : Cardinality(computed[n]) < 2

NeverADeadHolder == holder \in alive \cup {None}

(* A node that steers again publishes a limit of its earlier epoch, which is not accepted. *)
NeverOutdated ==
  [][\A n \in Nodes : \A limit \in computed[n] :
       n = holder /\ Heartbeat(n, limit) => Accepts(n, limit)]_vars

(* A dead node takes over, by a heartbeat that it sent before. *)
NeverByADeadNode == [][holder' # holder => holder' \in alive]_vars
===================================================================================
