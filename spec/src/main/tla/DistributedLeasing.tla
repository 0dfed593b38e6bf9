---------------------------- MODULE DistributedLeasing ----------------------------
(* Nodes lease whole batches of one window's limit from a store and spend them from
   memory. A node keeps its unspent units when the window ends: the carry-over tier.

   This is the published baseline. Equal state counts show that our runs of TLC check
   the same model, and its bound is the overshoot that carry-over costs. *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Nodes,
  Limit,  \* units per window
  Batch   \* units per lease

ASSUME Nodes # {} /\ Limit \in Nat /\ Batch \in Nat \ {0}

VARIABLES
  left,      \* units of this window that the store has not granted
  credits,   \* units that each node has leased and not spent
  admitted   \* in this window, by all nodes

vars == <<left, credits, admitted>>

Init ==
  /\ left = Limit
  /\ credits = [n \in Nodes |-> 0]
  /\ admitted = 0

Serve(n) ==
  /\ credits[n] > 0
  /\ credits' = [credits EXCEPT ![n] = @ - 1]
  /\ admitted' = admitted + 1
  /\ UNCHANGED left

(* A request that finds no units causes a lease, and takes its first unit at once. A node
   therefore never holds more than Batch - 1 units, which the bound depends on. *)
Lease(n) ==
  /\ credits[n] = 0
  /\ left >= Batch
  /\ left' = left - Batch
  /\ credits' = [credits EXCEPT ![n] = Batch - 1]
  /\ admitted' = admitted + 1

Roll ==
  /\ left' = Limit
  /\ admitted' = 0
  /\ UNCHANGED credits

(* Roll is repeated for each node only so that the number of generated states equals the
   published one. *)
Next == \E n \in Nodes : Serve(n) \/ Lease(n) \/ Roll

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
MaxAdmitted == Limit + Cardinality(Nodes) * (Batch - 1)

TypeOK ==
  /\ left \in 0..Limit
  /\ credits \in [Nodes -> 0..(Batch - 1)]
  /\ admitted \in Nat

Overshoot == admitted <= MaxAdmitted

(* Must be violated: the bound is reached, so it is tight. *)
OvershootTight == admitted < MaxAdmitted
===================================================================================
