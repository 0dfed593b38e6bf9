-------------------------------- MODULE LeasedTier --------------------------------
(* The leased tier as it is built: nodes lease units of one fixed window from a store,
   in part where less is left, and spend them from memory. Everything between them is
   asynchronous. Requests and replies may take any time and may be lost, nodes may
   forget what they hold, and give it back, and others charge the same counter at the
   store. The promise is WindowLimit: whatever the order of events, at most Limit units
   are admitted per window of the store's clock. Where what is left of a lease may be
   carried over into the next window instead, the promise is CarryLimit.

   Each safeguard that these promises rest on has a name. A name in Removed takes the
   safeguard away, and TLC must then find a way beyond the limit. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Nodes,
  Limit,        \* units per window
  Batch,        \* units that a node asks for, or the cost of a request if that is more
  Costs,        \* what a request may cost
  MaxWaiting,   \* requests that wait for one lease at one node
  Length,       \* ticks per window
  Windows,      \* how many windows are looked at
  Error,        \* ticks by which a node's measuring of time may fall short in a window
  Margin,       \* ticks by which a node ends its use of a lease early
  Skew,         \* ticks by which a node's wall clock is behind; nothing may read it
  Coupled,      \* whether units are worth nothing once their window has ended
  Ahead,        \* whether leases are asked for ahead of need
  MaxRefunds,   \* units given back to the counter by refunds, per window
  Removed       \* names of safeguards that are taken away

Safeguards == {
  "credit once",            \* a grant is credited by its reply, not by each who waits
  "check on landing",       \* a reply is worth nothing when its window has ended
  "check on spending",      \* nor is what is left of a lease when its window has ended
  "measure from sending",   \* time runs from when the lease was asked for, not received
  "monotonic clock",        \* time is measured, not compared with a wall clock
  "margin",                 \* the use of a lease ends early by what measuring may miss
  "forfeit leftover",       \* what is left of another window is not added to a grant
  "return to own window",   \* units come back to the window they were leased from
  "return once",            \* a give-back counts once
  "carry less than a batch" \* where units may be carried over: at most Batch - 1 of them
}

ASSUME Removed \subseteq Safeguards
ASSUME Batch > 0 /\ Length > 0 /\ Windows > 0 /\ \A c \in Costs : c > 0

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  now,        \* the store's clock
  used,       \* units that the store has counted in its window
  admitted,   \* units admitted in the store's window, wherever
  refunded,   \* units refunded in the store's window
  forfeited,  \* units of the store's window that nobody can spend any more
  cell,       \* of each node: the units it holds
  lease,      \* of each node: its one outstanding lease
  waiting,    \* of each node: the costs of requests that wait for that lease
  return      \* of each node: a give-back on its way

vars == <<now, used, admitted, refunded, forfeited, cell, lease, waiting, return>>
store == <<used, admitted, refunded, forfeited>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

WindowEnd == ((now \div Length) + 1) * Length

NoUnits == [units |-> 0, end |-> 0, until |-> 0]
NoLease == [stage |-> "none", from |-> 0, wanted |-> 0, units |-> 0, end |-> 0]
NoReturn == [units |-> 0, end |-> 0]

Init ==
  /\ now = 0
  /\ used = 0
  /\ admitted = 0
  /\ refunded = 0
  /\ forfeited = 0
  /\ cell = [n \in Nodes |-> NoUnits]
  /\ lease = [n \in Nodes |-> NoLease]
  /\ waiting = [n \in Nodes |-> <<>>]
  /\ return = [n \in Nodes |-> NoReturn]

-----------------------------------------------------------------------------------
(* What a node knows of time *)

(* When a lease's use ends, on a clock that runs with the store's. A node never sees
   the store's clock: it has the rest of the window as the reply tells it, and the
   moment at which it asked. The store granted later than that, so this is early. *)
UseEnd(l) ==
  CASE ~Kept("monotonic clock")      -> l.end + Skew
    [] ~Kept("measure from sending") -> now + l.from
    [] OTHER -> l.from - (IF Kept("margin") THEN Margin ELSE 0)

(* The slowest that a node may measure. A faster one spends less, no more. *)
InUse(until) == now - Error < until

(* What is left of units when their window has ended. A node that asks only when it has
   nothing, and serves whoever asked, has less than a batch left by itself. But whoever
   asked may have gone when the reply comes, and then it has a whole one. *)
Carried(units) ==
  CASE Coupled -> 0
    [] ~Kept("carry less than a batch") -> units
    [] OTHER -> Min(units, Batch - 1)

Usable(c) ==
  IF InUse(c.until) \/ ~Kept("check on spending") THEN c.units ELSE Carried(c.units)

-----------------------------------------------------------------------------------
(* At a node *)

Ask(n, size) == [NoLease EXCEPT !.stage = "asked", !.from = now, !.wanted = size]

(* A request arrives. It is served from memory, or waits: for the lease that is
   outstanding, or else for the one that it asks for. *)
Request(n, cost) ==
  IF cost <= Usable(cell[n])
  THEN
    /\ cell' = [cell EXCEPT ![n] =
         IF Usable(@) = cost THEN NoUnits ELSE [@ EXCEPT !.units = Usable(cell[n]) - cost]]
    /\ admitted' = admitted + cost
    /\ UNCHANGED <<now, used, refunded, forfeited, lease, waiting, return>>
  ELSE
    /\ Len(waiting[n]) < MaxWaiting
    /\ waiting' = [waiting EXCEPT ![n] = Append(@, cost)]
    /\ lease' =
         IF lease[n] = NoLease
         THEN [lease EXCEPT ![n] = Ask(n, Max(Batch, cost))]
         ELSE lease
    /\ UNCHANGED <<now, store, cell, return>>

(* A lease is asked for by those who still wait, or ahead of need. *)
AskAgain(n) ==
  /\ lease[n] = NoLease
  /\ \E size \in (IF Ahead THEN {Batch} ELSE {})
                 \cup {Max(Batch, waiting[n][i]) : i \in 1..Len(waiting[n])} :
       lease' = [lease EXCEPT ![n] = Ask(n, size)]
  /\ UNCHANGED <<now, store, cell, waiting, return>>

(* A waiting request is refused: nothing is left, or its time is up. *)
Refuse(n) ==
  /\ waiting[n] # <<>>
  /\ waiting' = [waiting EXCEPT ![n] = Tail(@)]
  /\ UNCHANGED <<now, store, cell, lease, return>>

(* Those who wait, in their order, as far as the units go. *)
RECURSIVE Serve(_, _)
Serve(queue, units) ==
  IF queue = <<>> THEN [units |-> units, still |-> <<>>]
  ELSE IF Head(queue) <= units THEN Serve(Tail(queue), units - Head(queue))
  ELSE LET rest == Serve(Tail(queue), units)
       IN [rest EXCEPT !.still = <<Head(queue)>> \o @]

(* The reply arrives. In one step it is credited and those who waited are served from
   it; what the cell held of another window goes. A late one is given back, in case the
   store's window lasts a little longer, or is left alone. *)
Land(n) ==
  LET l == lease[n]
      until == UseEnd(l)
      inTime == InUse(until) \/ ~Kept("check on landing")
      same == cell[n].units > 0 /\ cell[n].end = l.end
      old == IF same \/ ~Kept("forfeit leftover")
             THEN cell[n].units
             ELSE Carried(cell[n].units)
      times == IF Kept("credit once") THEN 1 ELSE Max(1, Len(waiting[n]))
      pool == old + times * l.units
      served == Serve(waiting[n], pool)
      left == [units |-> served.units, end |-> l.end,
               until |-> IF same THEN Max(until, cell[n].until) ELSE until]
  IN
  /\ l.stage = "granted"
  /\ lease' = [lease EXCEPT ![n] = NoLease]
  /\ IF inTime /\ l.units > 0
     THEN
       /\ cell' = [cell EXCEPT ![n] = IF served.units = 0 THEN NoUnits ELSE left]
       /\ waiting' = [waiting EXCEPT ![n] = served.still]
       /\ admitted' = admitted + pool - served.units
       /\ UNCHANGED <<forfeited, return>>
     ELSE
       /\ UNCHANGED <<admitted, cell, waiting>>
       /\ \/ /\ forfeited' = forfeited + (IF l.end = WindowEnd THEN l.units ELSE 0)
             /\ UNCHANGED return
          \/ /\ l.units > 0 /\ return[n] = NoReturn
             /\ return' = [return EXCEPT ![n] = [units |-> l.units, end |-> l.end]]
             /\ UNCHANGED forfeited
  /\ UNCHANGED <<now, used, refunded>>

(* The cell is evicted and its units are lost, as when the node is killed. *)
Forget(n) ==
  /\ cell[n].units > 0
  /\ cell' = [cell EXCEPT ![n] = NoUnits]
  /\ forfeited' = forfeited + (IF cell[n].end = WindowEnd THEN cell[n].units ELSE 0)
  /\ UNCHANGED <<now, used, admitted, refunded, lease, waiting, return>>

(* The cell is evicted, or idle, and its units start on their way back. *)
GiveBack(n) ==
  /\ cell[n].units > 0
  /\ return[n] = NoReturn
  /\ return' = [return EXCEPT ![n] = [units |-> cell[n].units, end |-> cell[n].end]]
  /\ cell' = [cell EXCEPT ![n] = NoUnits]
  /\ UNCHANGED <<now, store, lease, waiting>>

-----------------------------------------------------------------------------------
(* At the store *)

(* As much of the lease as is left, which may be nothing. *)
Grant(n) ==
  LET units == Min(lease[n].wanted, Limit - used) IN
  /\ lease[n].stage = "asked"
  /\ used' = used + units
  /\ lease' = [lease EXCEPT ![n] =
       [stage |-> "granted", wanted |-> 0, units |-> units, end |-> WindowEnd,
        from |-> WindowEnd - now
                 + (IF Kept("measure from sending") THEN @.from ELSE 0)]]
  /\ UNCHANGED <<now, admitted, refunded, forfeited, cell, waiting, return>>

TakeBack(n) ==
  LET r == return[n] IN
  /\ r # NoReturn
  /\ used' = IF r.end = WindowEnd \/ ~Kept("return to own window")
             THEN Max(0, used - r.units)
             ELSE used
  /\ return' \in {[return EXCEPT ![n] = NoReturn]}
                 \cup (IF Kept("return once") THEN {} ELSE {return})
  /\ UNCHANGED <<now, admitted, refunded, forfeited, cell, lease, waiting>>

(* A request whose rule is strict, on the same counter. *)
Charge(cost) ==
  /\ cost <= Limit - used
  /\ used' = used + cost
  /\ admitted' = admitted + cost
  /\ UNCHANGED <<now, refunded, forfeited, cell, lease, waiting, return>>

(* A refund counts as far as the counter goes down: never below unused. *)
Refund ==
  /\ used > 0
  /\ refunded < MaxRefunds
  /\ used' = used - 1
  /\ refunded' = refunded + 1
  /\ UNCHANGED <<now, admitted, forfeited, cell, lease, waiting, return>>

-----------------------------------------------------------------------------------
(* Between them *)

(* A lease comes to nothing: its request or its reply is lost, the call has failed, or
   whoever asked is gone. What was granted stays counted until the window ends. *)
LoseLease(n) ==
  /\ lease[n] # NoLease
  /\ lease' = [lease EXCEPT ![n] = NoLease]
  /\ forfeited' = forfeited + (IF lease[n].end = WindowEnd THEN lease[n].units ELSE 0)
  /\ UNCHANGED <<now, used, admitted, refunded, cell, waiting, return>>

LoseReturn(n) ==
  /\ return[n] # NoReturn
  /\ return' = [return EXCEPT ![n] = NoReturn]
  /\ forfeited' = forfeited + (IF return[n].end = WindowEnd THEN return[n].units ELSE 0)
  /\ UNCHANGED <<now, used, admitted, refunded, cell, lease, waiting>>

Tick ==
  /\ now + 1 < Windows * Length
  /\ now' = now + 1
  /\ IF now + 1 = WindowEnd
     THEN used' = 0 /\ admitted' = 0 /\ refunded' = 0 /\ forfeited' = 0
     ELSE UNCHANGED store
  /\ UNCHANGED <<cell, lease, waiting, return>>

Next ==
  \/ Tick
  \/ Refund
  \/ \E cost \in Costs : Charge(cost)
  \/ \E n \in Nodes :
       \/ \E cost \in Costs : Request(n, cost)
       \/ AskAgain(n) \/ Refuse(n) \/ Land(n) \/ Forget(n) \/ GiveBack(n)
       \/ Grant(n) \/ TakeBack(n) \/ LoseLease(n) \/ LoseReturn(n)

Spec == Init /\ [][Next]_vars

(* Which node is which makes no difference. *)
Alike == Permutations(Nodes)

-----------------------------------------------------------------------------------
(* What holds *)

WindowLimit == admitted <= Limit + refunded

CarryLimit == admitted <= Limit + refunded + Cardinality(Nodes) * (Batch - 1)

RECURSIVE Sum(_, _)
Sum(units, nodes) ==
  IF nodes = {} THEN 0
  ELSE LET n == CHOOSE n \in nodes : TRUE
       IN units[n] + Sum(units, nodes \ {n})

OfThisWindow(x) == IF x.end = WindowEnd THEN x.units ELSE 0

(* Units of the store's window that can still be spent, or are on their way. *)
Outstanding ==
  Sum([n \in Nodes |-> OfThisWindow(cell[n]) + OfThisWindow(lease[n])
                       + OfThisWindow(return[n])], Nodes)

(* What the store has counted is what was admitted, can still be spent, is on its way
   or is forfeited, and nothing twice: granted is accounted. *)
Accounted == used + refunded = admitted + Outstanding + forfeited

(* The same where a give-back may find less than it brings, because refunds have
   lowered the counter: then it reads high, never low. *)
Covered == used + refunded >= admitted + Outstanding + forfeited

StoreLimit == used <= Limit

TypeOK ==
  /\ now \in 0..(Windows * Length - 1)
  /\ used \in 0..Limit
  /\ admitted \in Nat
  /\ refunded \in 0..MaxRefunds
  /\ forfeited \in Nat
  /\ \A n \in Nodes :
       /\ cell[n].units \in Nat /\ (cell[n].units = 0 => cell[n] = NoUnits)
       /\ lease[n].stage \in {"none", "asked", "granted"}
       /\ waiting[n] \in UNION {[1..k -> Costs] : k \in 0..MaxWaiting}
       /\ return[n].units \in Nat /\ (return[n].units = 0 => return[n] = NoReturn)

-----------------------------------------------------------------------------------
(* What must be violated, or the model would prove little: that the bounds are never
   reached and the interesting steps never taken. *)

NeverTheWholeLimit == admitted < Limit

NeverAllCarried == admitted < Limit + Cardinality(Nodes) * (Batch - 1)

Granted(n) == lease[n].stage = "asked" /\ lease'[n].stage = "granted"
Landed(n) == lease[n].stage = "granted" /\ Land(n)

NeverInPart ==
  [][\A n \in Nodes : Granted(n) => lease'[n].units \in {0, lease[n].wanted}]_vars

(* Of two who wait, a reply serves both. *)
NeverARider ==
  [][\A n \in Nodes : Landed(n) => Len(waiting[n]) - Len(waiting'[n]) < 2]_vars

NeverLate ==
  [][\A n \in Nodes :
       Landed(n) /\ lease[n].units > 0 => cell'[n] # cell[n] \/ waiting'[n] # waiting[n]]_vars

NeverTakenBack == [][\A n \in Nodes : TakeBack(n) => used' = used]_vars

NeverReturnedLate == [][\A n \in Nodes : TakeBack(n) => used' # used]_vars

NeverALeftover ==
  [][\A n \in Nodes :
       Landed(n) /\ cell[n].units > 0 /\ cell[n] # cell'[n] => lease[n].end = cell[n].end]_vars
===================================================================================
