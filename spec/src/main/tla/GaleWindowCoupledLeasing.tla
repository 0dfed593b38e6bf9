------------------------- MODULE GaleWindowCoupledLeasing -------------------------
(* DistributedLeasing with one difference: unspent units of a node are worth nothing once
   the window has ended. There is no overshoot, for any number of nodes. *)
EXTENDS DistributedLeasing

CoupledRoll ==
  /\ left' = Limit
  /\ admitted' = 0
  /\ credits' = [n \in Nodes |-> 0]

(* Within the window a node may return units that it does not need. *)
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

(* Must be violated: the whole limit can be used if it is a multiple of Batch. *)
NoOvershootTight == admitted < Limit
===================================================================================
