----------------------------- MODULE EscrowHistories ------------------------------
(* The escrow of a region for one window (L2), on servers whose data may be old. A server
   ends and restarts with a snapshot; a replica that lags takes over; a master becomes a
   replica and then a master again; two servers may be masters at once. Data may therefore
   be copied at any time from any server to any server that is not a master, and each has
   its own view of the remaining units.

   The promise is SpentOnce: no more units are spent than were put in.

   It depends on histories. A server that becomes a master begins a new history, and spends
   only units that were put in during its own history. A name in Removed switches off one
   of these two safeguards, and TLC must then find a unit that is spent twice. *)
EXTENDS Naturals

CONSTANTS
  Servers,
  Units,      \* put in at most
  Histories,  \* begun at most
  Removed     \* names of safeguards that are switched off

Safeguards == {
  "own history",     \* units are spent only in the history in which they were put in
  "another history"  \* a server that becomes a master again begins a new history
}

ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

None == 0

VARIABLES
  history,  \* of each server: None while it is not a master
  last,     \* of each server: its last history
  data,     \* of each server: its units, and their history
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

(* A server starts as a master, or is promoted. *)
Lead(s) ==
  /\ history[s] = None
  /\ LET old == last[s] # None /\ ~Kept("another history") IN
       /\ old \/ begun < Histories
       /\ begun' = IF old THEN begun ELSE begun + 1
       /\ history' = [history EXCEPT ![s] = IF old THEN last[s] ELSE begun + 1]
  /\ last' = [last EXCEPT ![s] = history'[s]]
  /\ UNCHANGED <<data, put, spent>>

(* A master ends, or is demoted. *)
Follow(s) ==
  /\ history[s] # None
  /\ history' = [history EXCEPT ![s] = None]
  /\ UNCHANGED <<last, data, begun, put, spent>>

(* The data of a server replace those of one that is not a master. *)
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

(* Must be violated: all units are spent if nothing fails, and units are lost otherwise. *)
NeverAllSpent == spent < Units
NeverLost == \A s \in Servers : history[s] # None => data[s].units = Held(s)
===================================================================================
