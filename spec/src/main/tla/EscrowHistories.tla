----------------------------- MODULE EscrowHistories ------------------------------
(* What a region holds of one window (L2), where data may be older than what happened.
   A server ends and comes back with a snapshot; a replica that lagged takes over; a master
   becomes a replica and a master again; and two may be masters at once. So data are copied
   at any time from any server to any that is no master, and each has its own view of what
   is left.

   The promise is SpentOnce: no more is spent than was put in.

   It rests on a history: whatever becomes a master begins one that never was before, and
   spends what was put in by its own, and nothing else. A name in Removed takes one of the
   two away, and TLC must then find how a unit is spent twice. *)
EXTENDS Naturals

CONSTANTS
  Servers,
  Units,      \* that are put in at most
  Histories,  \* that begin at most
  Removed     \* names of safeguards that are taken away

Safeguards == {
  "own history",     \* units are spent in the history that they were put into
  "another history"  \* a server that is a master again begins a history of its own
}

ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

None == 0

VARIABLES
  history,  \* of each server: None while it is no master
  last,     \* of each server: its last one
  data,     \* of each server: how many units it holds, and of which history
  begun,    \* histories so far
  put,      \* units that were put in
  spent

vars == <<history, last, data, begun, put, spent>>

Init ==
  /\ history = [s \in Servers |-> None]
  /\ last = [s \in Servers |-> None]
  /\ data = [s \in Servers |-> [units |-> 0, of |-> None]]
  /\ begun = 0
  /\ put = 0
  /\ spent = 0

Held(s) ==
  IF data[s].of = history[s] \/ ~Kept("own history") THEN data[s].units ELSE 0

(* A server starts as a master, or is made one. *)
Lead(s) ==
  /\ history[s] = None
  /\ LET old == last[s] # None /\ ~Kept("another history") IN
       /\ old \/ begun < Histories
       /\ begun' = IF old THEN begun ELSE begun + 1
       /\ history' = [history EXCEPT ![s] = IF old THEN last[s] ELSE begun + 1]
  /\ last' = [last EXCEPT ![s] = history'[s]]
  /\ UNCHANGED <<data, put, spent>>

(* It ends, or is made a replica. *)
Follow(s) ==
  /\ history[s] # None
  /\ history' = [history EXCEPT ![s] = None]
  /\ UNCHANGED <<last, data, begun, put, spent>>

(* What one holds is what another, which is no master, has from now on. *)
Copy(s, t) ==
  /\ s # t
  /\ history[t] = None
  /\ data' = [data EXCEPT ![t] = data[s]]
  /\ UNCHANGED <<history, last, begun, put, spent>>

Refill(s) ==
  /\ history[s] # None
  /\ put < Units
  /\ put' = put + 1
  /\ data' = [data EXCEPT ![s] = [units |-> Held(s) + 1, of |-> history[s]]]
  /\ UNCHANGED <<history, last, begun, spent>>

Lease(s) ==
  /\ history[s] # None
  /\ Held(s) > 0
  /\ spent' = spent + 1
  /\ data' = [data EXCEPT ![s].units = @ - 1]
  /\ UNCHANGED <<history, last, begun, put>>

Next ==
  \/ \E s \in Servers : Lead(s) \/ Follow(s) \/ Refill(s) \/ Lease(s)
  \/ \E s, t \in Servers : Copy(s, t)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
TypeOK ==
  /\ history \in [Servers -> 0..Histories]
  /\ last \in [Servers -> 0..Histories]
  /\ data \in [Servers -> [units : 0..Units, of : 0..Histories]]
  /\ begun \in 0..Histories
  /\ put \in 0..Units
  /\ spent \in 0..Units + 1

SpentOnce == spent <= put

(* Must be violated: all is spent where nothing fails, and units are lost where it does. *)
NeverAllSpent == spent < Units
NeverLost == \A s \in Servers : history[s] # None => data[s].units = Held(s)
===================================================================================
