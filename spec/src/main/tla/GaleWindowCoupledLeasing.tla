------------------------- MODULE GaleWindowCoupledLeasing -------------------------
(* DistributedLeasing with one difference: what a node has left when the window rolls
   is worth nothing. The overshoot vanishes for any number of nodes. *)
EXTENDS DistributedLeasing

CoupledRoll ==
  /\ left' = Limit
  /\ admitted' = 0
  /\ credits' = [n \in Nodes |-> 0]

(* Within the window a node may give back what it does not need. *)
Return(n) ==
  /\ credits[n] > 0
  /\ left' = left + credits[n]
  /\ credits' = [credits EXCEPT ![n] = 0]
  /\ UNCHANGED admitted

CoupledNext == \E n \in Nodes : Serve(n) \/ Lease(n) \/ CoupledRoll

CoupledSpec == Init /\ [][CoupledNext]_vars

ReturningSpec == Init /\ [][CoupledNext \/ \E n \in Nodes : Return(n)]_vars

-----------------------------------------------------------------------------------
NoOvershoot == admitted <= Limit

(* Must be violated: the whole limit is reachable where it is a multiple of Batch. *)
NoOvershootTight == admitted < Limit
===================================================================================
