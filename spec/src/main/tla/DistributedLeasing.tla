---------------------------- MODULE DistributedLeasing ----------------------------
(* Nodes lease whole batches of one window's limit from a store and spend them from
   memory. What a node has left when the window rolls it keeps: the carry-over tier.

   Why it is here: it is the published baseline, so its state counts show that we run
   TLC on what others ran it on, and its bound is what carrying over costs. *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Nodes,
  Limit,  \* units per window
  Batch   \* units per lease

ASSUME Nodes # {} /\ Limit \in Nat /\ Batch \in Nat \ {0}

VARIABLES
  left,      \* what the store has not granted of this window
  credits,   \* what each node has leased and not spent
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

(* A lease is asked for by a request that found nothing, and serves it at once. So a
   node never holds more than Batch - 1, on which the bound rests. *)
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

(* Roll stands beside the steps of a node, and so once per node, only so that the
   number of states generated is the published one too. *)
Next == \E n \in Nodes : Serve(n) \/ Lease(n) \/ Roll

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
MaxAdmitted == Limit + Cardinality(Nodes) * (Batch - 1)

TypeOK ==
  /\ left \in 0..Limit
  /\ credits \in [Nodes -> 0..(Batch - 1)]
  /\ admitted \in Nat

Overshoot == admitted <= MaxAdmitted

(* Must be violated: the bound is reached, so it cannot be stated any better. *)
OvershootTight == admitted < MaxAdmitted
===================================================================================
