------------------------------- MODULE PermitShares -------------------------------
(* A concurrency limit that tenants share by weight, as PermitShares divides it in Java.

   A tenant is active while a request of it is in flight or waits, and until it is forgotten.
   Its part is its weight's part of the limit among the active tenants. The reserve is what
   active tenants do not use of their parts. A request below its tenant's part is admitted
   while a permit is free; above it, while more permits are free than are reserved. Invented
   tenants have no listed weight: their parts are half of the limit at most, and they do not
   use the reserve of listed ones.

   The limit changes at any time. A request is refused, waits or is withdrawn at any time. A
   permit may be released twice. Whichever thread frees a permit serves the queue later, so
   any step may come in between.

   Parts are covered if the requests in flight and the reserve are within the limit. The
   promises:
   - BelowLimit: no permit is granted at or above the limit, even while that falls.
   - StaysCovered: while the limit and the active tenants stay as they are, covered parts
     stay covered: what is borrowed is reserved for none.
   - LentWhenCovered: nothing is lent unless parts stay covered.
   - Sure: while parts are covered, a request below its tenant's part can have a permit.
   - Latest: at the latest when no tenant is above its part.
   - Listed: a listed tenant below its part can have any permit that is free.
   - Shielded: invented tenants that join do not use up the reserve of listed ones.
   - Half: the parts of invented tenants are at most half of the limit, while a listed one
     is active.
   - AtLeastOne: unless some are invented, each part is at least 1 if there are permits enough.
   - InOrder: waiting requests below their tenants' parts come first, in the order of
     arrival, then the others; none that could have a permit is overtaken by a new request.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
  Tenants,
  Heavy,      \* tenants of weight 2; that of the others is 1
  Invented,   \* tenants without a listed weight
  Limits,     \* that the limit may have
  MaxWaiting, \* requests
  Removed     \* names of safeguards that are switched off

Safeguards == {
  "limit",             \* none is admitted at or above the limit
  "reserve of others", \* only what is reserved for none is lent
  "part first",        \* below its part, a tenant does not leave the reserve of others free
  "shield the listed", \* except for what is reserved for listed tenants, if it is invented
  "half",              \* parts of invented tenants are bounded
  "at least one",      \* parts are at least 1 if there are permits enough
  "below first",       \* waiting requests below their parts come first
  "oldest first",      \* and of those that are alike the one that has waited longest
  "waiting first",     \* a new request takes no permit that a waiting one may have
  "release once"       \* the end of a permit counts once
}

ASSUME Heavy \subseteq Tenants /\ Invented \subseteq Tenants
ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  limit,
  active,
  counted, \* requests in flight of each tenant, as the rules know them
  running, \* and as it is
  queue    \* the tenants of the requests that wait

vars == <<limit, active, counted, running, queue>>

Max(a, b) == IF a > b THEN a ELSE b
Least(set) == CHOOSE n \in set : \A m \in set : n <= m

Weight(t) == IF t \in Heavy THEN 2 ELSE 1

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET t == CHOOSE t \in among : TRUE IN of[t] + Sum(of, among \ {t})

Weights(among) == Sum([t \in Tenants |-> Weight(t)], among)

(* So many permits divided among them by weight. If there is one for each, those that would
   have less than one have one, and the others divide the rest. *)
Divided(permits, among) ==
  LET heavy == among \cap Heavy
      light == among \ Heavy
      raised == Kept("at least one") /\ Cardinality(among) <= permits /\ permits < Weights(among)
  IN [t \in Tenants |->
       IF t \notin among THEN 0
       ELSE IF ~raised THEN (Weight(t) * permits) \div Weights(among)
       ELSE IF t \in light THEN 1
       ELSE (permits - Cardinality(light)) \div Cardinality(heavy)]

Parts ==
  LET listed == active \ Invented
      others == active \cap Invented
      all == Divided(limit, active)
      half == limit \div 2
      above == 2 * Weights(others) > Weights(active) \/ Sum(all, others) > half
      apart == Divided(half, others)
  IN IF Kept("half") /\ listed # {} /\ above
     THEN [t \in Tenants |-> IF t \in others THEN apart[t] ELSE Divided(half, listed)[t]]
     ELSE all

InFlight == Sum(counted, Tenants)
Free == limit - InFlight

(* Operators below have the parts as an argument, so that each state computes them once. *)
Reserve(parts, among) ==
  Sum([t \in Tenants |-> Max(0, parts[t] - counted[t])], among)

IsBelow(parts, t) == counted[t] < parts[t]

Admits(parts, t) ==
  /\ Free > 0 \/ ~Kept("limit")
  /\ IF IsBelow(parts, t)
     THEN /\ t \in Invented /\ Kept("shield the listed") =>
               Free > Reserve(parts, active \ Invented)
          /\ ~Kept("part first") => Free > Reserve(parts, active)
     ELSE Kept("reserve of others") => Free > Reserve(parts, active)

(* The places in the queue whose requests may have a permit. *)
Servable(parts) == {i \in DOMAIN queue : Admits(parts, queue[i])}

Served(parts) ==
  LET may == Servable(parts)
      below == {i \in may : IsBelow(parts, queue[i])}
      first == IF Kept("below first") /\ below # {} THEN below ELSE may
  IN IF first = {} THEN {} ELSE IF Kept("oldest first") THEN {Least(first)} ELSE first

Without(i) == SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))

Waits(t) == \E i \in DOMAIN queue : queue[i] = t

Init ==
  /\ limit \in Limits
  /\ active = {}
  /\ counted = [t \in Tenants |-> 0]
  /\ running = [t \in Tenants |-> 0]
  /\ queue = << >>

(* A request comes. What becomes of it are later steps; none if it is refused. *)
Arrive(t) ==
  /\ active' = active \cup {t}
  /\ UNCHANGED <<limit, counted, running, queue>>

Grant(t) ==
  /\ counted' = [counted EXCEPT ![t] = @ + 1]
  /\ running' = [running EXCEPT ![t] = @ + 1]

Take(t) ==
  /\ t \in active
  /\ LET parts == Parts IN
     /\ Kept("waiting first") => Servable(parts) = {}
     /\ Admits(parts, t)
  /\ Grant(t)
  /\ UNCHANGED <<limit, active, queue>>

Wait(t) ==
  /\ t \in active
  /\ Len(queue) < MaxWaiting
  /\ queue' = Append(queue, t)
  /\ UNCHANGED <<limit, active, counted, running>>

Serve ==
  /\ \E i \in Served(Parts) :
       /\ Grant(queue[i])
       /\ queue' = Without(i)
  /\ UNCHANGED <<limit, active>>

Withdraw(i) ==
  /\ queue' = Without(i)
  /\ UNCHANGED <<limit, active, counted, running>>

Release(t) ==
  /\ running[t] > 0
  /\ counted' = [counted EXCEPT ![t] = @ - 1]
  /\ running' = [running EXCEPT ![t] = @ - 1]
  /\ UNCHANGED <<limit, active, queue>>

ReleaseAgain(t) ==
  /\ ~Kept("release once")
  /\ counted[t] > 0
  /\ counted' = [counted EXCEPT ![t] = @ - 1]
  /\ UNCHANGED <<limit, active, running, queue>>

(* An idle tenant sent its last request a while ago, or there are too many idle ones. *)
Forget(t) ==
  /\ counted[t] = 0 /\ ~Waits(t)
  /\ active' = active \ {t}
  /\ UNCHANGED <<limit, counted, running, queue>>

Change(to) ==
  /\ limit' = to
  /\ UNCHANGED <<active, counted, running, queue>>

Next ==
  \/ Serve
  \/ \E i \in DOMAIN queue : Withdraw(i)
  \/ \E to \in Limits : Change(to)
  \/ \E t \in Tenants :
       Arrive(t) \/ Take(t) \/ Wait(t) \/ Release(t) \/ ReleaseAgain(t) \/ Forget(t)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------------
IsCovered(parts) == InFlight + Reserve(parts, active) <= limit

Covered == IsCovered(Parts)

TypeOK ==
  /\ limit \in Limits
  /\ Len(queue) <= MaxWaiting
  /\ \A t \in Tenants : counted[t] >= 0 /\ (counted[t] > 0 \/ Waits(t) => t \in active)

Sure ==
  LET parts == Parts IN
  IsCovered(parts) => \A t \in active : IsBelow(parts, t) => Admits(parts, t)

Latest ==
  LET parts == Parts IN
  (\A t \in active : counted[t] <= parts[t]) =>
    \A t \in active : IsBelow(parts, t) => Admits(parts, t)

Listed ==
  LET parts == Parts IN
  Free > 0 => \A t \in active \ Invented : IsBelow(parts, t) => Admits(parts, t)

Half ==
  active \ Invented # {} => Sum(Parts, active \cap Invented) <= limit \div 2

AtLeastOne ==
  active \cap Invented = {} /\ Cardinality(active) <= limit => \A t \in active : Parts[t] > 0

Granted == {t \in Tenants : running'[t] > running[t]}

BelowLimit ==
  [][Granted # {} => Sum(running', Tenants) <= limit]_vars

StaysCovered ==
  [][limit' = limit /\ active' = active /\ Covered => Covered']_vars

LentWhenCovered ==
  [][\A t \in Granted : IsBelow(Parts, t) \/ Covered']_vars

(* What is reserved for listed tenants. *)
Spared == InFlight + Reserve(Parts, active \ Invented) <= limit

Shielded ==
  [][limit' = limit /\ active \subseteq active' /\ active' \ active \subseteq Invented /\ Spared
       => Spared']_vars

(* Those that may have a permit by the promises, whatever the rules say. *)
Entitled(parts, t) ==
  /\ Free > 0
  /\ IF IsBelow(parts, t)
     THEN t \in Invented => Free > Reserve(parts, active \ Invented)
     ELSE Free > Reserve(parts, active)

InOrder ==
  [][LET parts == Parts
         entitled == {i \in DOMAIN queue : Entitled(parts, queue[i])}
         below == {i \in entitled : IsBelow(parts, queue[i])}
     IN Granted # {} =>
          IF queue' = queue
          THEN entitled = {}
          ELSE entitled # {} /\ queue' = Without(Least(IF below # {} THEN below ELSE entitled))]_vars

-----------------------------------------------------------------------------------
(* Must be violated, to show that the model reaches the interesting states. *)

NeverBorrows == \A t \in active : counted[t] <= Parts[t]

NeverTheWholeLimit == InFlight < limit

NeverAboveTheLimit == InFlight <= limit

NeverUncovered == Covered

NeverHeldBack == queue # << >> => Free <= 0

NeverOvertakes ==
  [][Granted # {} /\ queue' # queue => queue' = Tail(queue)]_vars

NeverHalf == \A t \in active \cap Invented : 2 * Parts[t] # limit
===================================================================================
