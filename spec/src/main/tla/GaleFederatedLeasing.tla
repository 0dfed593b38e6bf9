--------------------------- MODULE GaleFederatedLeasing ---------------------------
(* GaleWindowCoupledLeasing between regions: the escrow of a region takes the place of a
   node's memory, and the coordinator with the budget of all regions that of the store.
   It is an instance under other names, so every property of one holds for the other.
   Grants are whole, take no time and never fail. FederatedWindows models the
   implementation. *)
EXTENDS Integers

CONSTANTS
  Regions,
  Limit,  \* units per window, of all regions
  Batch   \* units per lease

VARIABLES
  globalBudget,  \* units of this window that the coordinator has not granted
  escrow,        \* units that each region has leased and not spent
  admitted       \* in this window, by all regions

Leasing == INSTANCE GaleWindowCoupledLeasing
  WITH Nodes <- Regions, left <- globalBudget, credits <- escrow

Spec == Leasing!CoupledSpec

-----------------------------------------------------------------------------------
TypeOK == Leasing!TypeOK

NoOvershoot == Leasing!NoOvershoot

(* Must be violated: the whole limit can be used if it is a multiple of Batch. *)
NoOvershootTight == Leasing!NoOvershootTight
===================================================================================
