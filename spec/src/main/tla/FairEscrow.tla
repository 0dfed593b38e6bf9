--------------------------------- MODULE FairEscrow --------------------------------
(* One limit per window that tenants share by weight, as FairShares divides it in Java.

   A tenant is active if it was seen in this window or in the one before. Its guarantee is
   its weight's part of the limit among the active tenants. A request is admitted if it is
   within the guarantee and anything is left, or if what it takes beyond the guarantee is not
   reserved for others. Tenants join at any time. If there are too many, one is evicted.
   Invented tenants have no listed weight: they are guaranteed half of the limit at most.

   The promises:
   - WithinLimit: at most the limit is admitted in a window.
   - Reserved: unless a tenant has joined or was evicted in this window, what is left covers
     what active tenants have not used of their guarantees, less the largest cost, plus 1.
     So with costs of 1, each has the smaller of its demand and its guarantee.
   - Shielded: invented tenants that join do not use up the reserve of listed ones.
   - Late: a tenant that joins has the smaller of its demand, its guarantee and what is left.
   - OneCost: no admission exceeds the guarantee of that moment by more than the largest cost.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Tenants,
  Heavy,       \* tenants of weight 2; that of the others is 1
  Invented,    \* tenants without a listed weight
  Limit,
  MaxCost,
  MaxTenants,  \* that are remembered
  MaxWindows,
  Removed      \* names of safeguards that are switched off

Safeguards == {
  "limit",             \* a cost above what is left is refused
  "reserve of others", \* only what is not reserved for others is lent
  "carry over",        \* tenants of the last window are active in this one
  "current weights",   \* of all active tenants, not only those of the last window
  "guarantee first",   \* within its guarantee, a tenant has what is left
  "shield the listed", \* except for what is reserved for listed tenants, if it is invented
  "one cost",          \* what is lent at once is at most the cost
  "evicted count"      \* what an evicted tenant has used stays in the total
}

ASSUME Heavy \subseteq Tenants /\ Invented \subseteq Tenants
ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  window,
  used,      \* of each tenant in this window
  total,     \* admitted in this window, as the rules know it
  admitted,  \* and as it is
  seen,      \* tenants that sent a request in this window
  last,      \* tenants that sent one in the last window
  disturbed, \* whether a listed tenant has joined in this window, or one was evicted
  invaded    \* whether an invented one has joined

vars == <<window, used, total, admitted, seen, last, disturbed, invaded>>

Costs == 1..MaxCost

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

Weight(t) == IF t \in Heavy THEN 2 ELSE 1

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET t == CHOOSE t \in among : TRUE IN of[t] + Sum(of, among \ {t})

Weights(among) == Sum([t \in Tenants |-> Weight(t)], among)

(* If t were active, too. *)
Guarantee(t, active) ==
  LET all == active \cup {t}
      alike == IF t \in Invented THEN all \cap Invented ELSE all \ Invented
      half == Limit \div 2 IN
  IF all \ Invented # {} /\ 2 * Weights(all \cap Invented) > Weights(all)
  THEN (Weight(t) * half) \div Weights(alike)
  ELSE (Weight(t) * Limit) \div Weights(all)

Reserve(among, active) ==
  Sum([t \in Tenants |-> Max(0, Guarantee(t, active) - used[t])], among)

Left == Limit - total

(* What the rules know. *)
Active == IF Kept("carry over") THEN seen \cup last ELSE seen
Weighed == IF Kept("current weights") THEN Active ELSE last

(* What the promises are about. *)
Expected == seen \cup last

Admits(t, cost) ==
  LET guarantee == Guarantee(t, Weighed \cup (IF Kept("current weights") THEN {t} ELSE {}))
      active == Weighed \cup {t}
      listed == Reserve((Active \cup {t}) \ Invented, active)
      free == IF t \in Invented /\ Kept("shield the listed") THEN Left - listed ELSE Left
      others == IF Kept("reserve of others") THEN Reserve(Active \ {t}, active) ELSE 0
      lent == IF Kept("one cost") THEN Min(cost, Left - others) ELSE Left - others IN
  /\ cost <= free \/ ~Kept("limit")
  /\ \/ used[t] + cost <= guarantee /\ (Kept("guarantee first") \/ cost <= Left - others)
     \/ used[t] + cost > guarantee /\ used[t] + cost - guarantee <= lent

Init ==
  /\ window = 1
  /\ used = [t \in Tenants |-> 0]
  /\ total = 0
  /\ admitted = 0
  /\ seen = {}
  /\ last = {}
  /\ disturbed = FALSE
  /\ invaded = FALSE

(* A request of an active tenant, or of one that joins while there is room. *)
Request(t, cost) ==
  /\ t \in Expected \/ Cardinality(Expected) < MaxTenants
  /\ seen' = seen \cup {t}
  /\ disturbed' = (disturbed \/ t \notin Expected \cup Invented)
  /\ invaded' = (invaded \/ t \in Invented \ Expected)
  /\ IF Admits(t, cost)
     THEN /\ used' = [used EXCEPT ![t] = @ + cost]
          /\ total' = total + cost
          /\ admitted' = admitted + cost
     ELSE UNCHANGED <<used, total, admitted>>
  /\ UNCHANGED <<window, last>>

(* Some tenant is forgotten, because another one is to join. *)
Evict(t) ==
  /\ t \in Expected
  /\ Cardinality(Expected) = MaxTenants
  /\ Expected # Tenants
  /\ seen' = seen \ {t}
  /\ last' = last \ {t}
  /\ used' = [used EXCEPT ![t] = 0]
  /\ total' = IF Kept("evicted count") THEN total ELSE total - used[t]
  /\ disturbed' = TRUE
  /\ UNCHANGED <<window, admitted, invaded>>

Roll ==
  /\ window < MaxWindows
  /\ window' = window + 1
  /\ used' = [t \in Tenants |-> 0]
  /\ total' = 0
  /\ admitted' = 0
  /\ last' = seen
  /\ seen' = {}
  /\ disturbed' = FALSE
  /\ invaded' = FALSE

Next ==
  \/ Roll
  \/ \E t \in Tenants :
       \/ Evict(t)
       \/ \E cost \in Costs : Request(t, cost)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
TypeOK ==
  /\ window \in 1..MaxWindows
  /\ total >= Sum(used, Tenants)
  /\ \A t \in Tenants \ seen : used[t] = 0

WithinLimit == admitted <= Limit

Reserved ==
  ~disturbed /\ ~invaded => Reserve(Expected, Expected) <= Left + MaxCost - 1

Shielded ==
  ~disturbed => Reserve(Expected \ Invented, Expected) <= Left + MaxCost - 1

Late ==
  \A t \in Tenants \ Invented : \A cost \in Costs :
    used[t] + cost <= Guarantee(t, Expected) /\ cost <= Left => Admits(t, cost)

OneCost ==
  [][\A t \in Tenants :
       used'[t] > used[t] => used'[t] <= Guarantee(t, Expected') + MaxCost]_vars

-----------------------------------------------------------------------------------
(* Must be violated, to show that the model reaches the interesting states. *)

NeverBorrows == \A t \in Tenants : used[t] <= Guarantee(t, Expected)

NeverTheWholeLimit == total < Limit

NeverShort == ~disturbed /\ ~invaded => Reserve(Expected, Expected) <= Left

(* A tenant that joins late can use the reserve of the others. *)
NeverUsedByLateTenants == Reserve(Expected, Expected) <= Left + MaxCost - 1

NeverHalf == \A t \in Invented \cap Expected : Guarantee(t, Expected) # Limit \div 2
===================================================================================
