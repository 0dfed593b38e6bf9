--------------------------- MODULE GaleFederatedLeasing ---------------------------
(* GaleWindowCoupledLeasing between regions: what a node has in memory is a region's
   escrow, and the store is the coordinator with the budget of all regions. It is said by
   a renaming because it is nothing else, so that what holds of the one holds of the
   other. Grants are whole, nothing takes time and nothing fails: see FederatedWindows
   for what is built. *)
EXTENDS Integers

CONSTANTS
  Regions,
  Limit,  \* units per window, of all regions
  Batch   \* units per lease

VARIABLES
  globalBudget,  \* what the coordinator has not granted of this window
  escrow,        \* what each region has leased and not spent
  admitted       \* in this window, by all regions

Leasing == INSTANCE GaleWindowCoupledLeasing
  WITH Nodes <- Regions, left <- globalBudget, credits <- escrow

Spec == Leasing!CoupledSpec

-----------------------------------------------------------------------------------
TypeOK == Leasing!TypeOK

NoOvershoot == Leasing!NoOvershoot

(* Must be violated: the whole limit is reachable where it is a multiple of Batch. *)
NoOvershootTight == Leasing!NoOvershootTight
===================================================================================
