-------------------------------- MODULE LeasedTier --------------------------------
(* The leased tier as it is built. Nodes lease units of one fixed window from a store and
   spend them from memory. A grant is partial if fewer units are left. All communication
   is asynchronous: requests and replies take any time and may be lost. Nodes may lose or
   return their units. Other requests charge the same counter at the store.

   The promises:
   - WindowLimit: at most Limit units are admitted per window of the store's clock,
     whatever the order of events.
   - CarryLimit: the bound if unspent units may be carried over into the next window.

   Each safeguard that these promises depend on has a name. A name in Removed switches
   the safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Nodes,
  Limit,        \* units per window
  Batch,        \* units that a node requests, or the cost of a request if that is more
  Costs,        \* possible costs of a request
  MaxWaiting,   \* requests that wait for one lease at one node
  Length,       \* ticks per window
  Windows,      \* number of windows
  Error,        \* ticks per window by which a node's clock may run slow
  Margin,       \* ticks by which a node stops spending a lease early
  Skew,         \* ticks by which a node's wall clock is behind; it must not be read
  Coupled,      \* whether units are worth nothing once their window has ended
  Ahead,        \* whether leases are requested ahead of need
  MaxRefunds,   \* units refunded to the counter per window
  Removed       \* names of safeguards that are switched off

Safeguards == {
  "grant what is left",      \* the store grants at most what it has not counted yet
  "credit once",            \* a grant is credited by its reply, not by each waiting request
  "check on landing",       \* a reply is worth nothing when its window has ended
  "check on spending",      \* so are unspent units of a lease when its window has ended
  "measure from sending",   \* time runs from when the lease was requested, not received
  "monotonic clock",        \* time is measured, not compared with a wall clock
  "margin",                 \* units expire early by the error of the node's clock
  "forfeit leftover",       \* unspent units of another window are not added to a grant
  "return to own window",   \* units come back to the window they were leased from
  "return once",            \* a return counts once
  "carry less than a batch" \* with carry-over: at most Batch - 1 units are carried
}

ASSUME Removed \subseteq Safeguards
ASSUME Batch > 0 /\ Length > 0 /\ Windows > 0 /\ \A c \in Costs : c > 0

Kept(safeguard) == safeguard \notin Removed

VARIABLES
  now,        \* the store's clock
  used,       \* units that the store has counted in its window
  admitted,   \* units admitted in the store's window, by all
  refunded,   \* units refunded in the store's window
  forfeited,  \* units of the store's window that can no longer be spent
  cell,       \* of each node: the units it holds
  lease,      \* of each node: its one outstanding lease
  waiting,    \* of each node: the costs of requests that wait for that lease
  return      \* of each node: a return in flight

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
(* Time at a node *)

(* When the units of a lease expire, on a clock at the rate of the store's. A node never
   reads the store's clock. It has the rest of the window from the reply, and the time of
   its request. The store granted later than that, so units expire early. *)
UseEnd(l) ==
  CASE ~Kept("monotonic clock")      -> l.end + Skew
    [] ~Kept("measure from sending") -> now + l.from
    [] OTHER -> l.from - (IF Kept("margin") THEN Margin ELSE 0)

(* With the slowest permitted clock. A node with a faster clock never spends more. *)
InUse(until) == now - Error < until

(* Units that remain after their window has ended. A node that requests a lease only
   without units, and serves the request that caused it, holds less than a batch. If that
   request has stopped waiting when the reply arrives, the node holds a whole batch. *)
Carried(units) ==
  CASE Coupled -> 0
    [] ~Kept("carry less than a batch") -> units
    [] OTHER -> Min(units, Batch - 1)

Usable(c) ==
  IF InUse(c.until) \/ ~Kept("check on spending") THEN c.units ELSE Carried(c.units)

-----------------------------------------------------------------------------------
(* At a node *)

Ask(n, size) == [NoLease EXCEPT !.stage = "asked", !.from = now, !.wanted = size]

(* A request arrives. It is served from memory, or waits for a lease: the outstanding one,
   or else a new one. *)
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

(* A lease is requested for requests that still wait, or ahead of need. *)
AskAgain(n) ==
  /\ lease[n] = NoLease
  /\ \E size \in (IF Ahead THEN {Batch} ELSE {})
                 \cup {Max(Batch, waiting[n][i]) : i \in 1..Len(waiting[n])} :
       lease' = [lease EXCEPT ![n] = Ask(n, size)]
  /\ UNCHANGED <<now, store, cell, waiting, return>>

(* A waiting request is refused: no units are left, or its deadline is exceeded. *)
Refuse(n) ==
  /\ waiting[n] # <<>>
  /\ waiting' = [waiting EXCEPT ![n] = Tail(@)]
  /\ UNCHANGED <<now, store, cell, lease, return>>

(* Serves waiting requests in their order, as far as the units suffice. *)
RECURSIVE Serve(_, _)
Serve(queue, units) ==
  IF queue = <<>> THEN [units |-> units, still |-> <<>>]
  ELSE IF Head(queue) <= units THEN Serve(Tail(queue), units - Head(queue))
  ELSE LET rest == Serve(Tail(queue), units)
       IN [rest EXCEPT !.still = <<Head(queue)>> \o @]

(* The reply arrives. In one step it is credited, waiting requests are served from it, and
   units of another window are dropped. A late reply is returned, because the store's
   window may last a little longer, or is dropped. *)
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

(* The cell is evicted and its units are lost, or the node is killed. *)
Forget(n) ==
  /\ cell[n].units > 0
  /\ cell' = [cell EXCEPT ![n] = NoUnits]
  /\ forfeited' = forfeited + (IF cell[n].end = WindowEnd THEN cell[n].units ELSE 0)
  /\ UNCHANGED <<now, used, admitted, refunded, lease, waiting, return>>

(* The cell is evicted or idle, and its units are returned. *)
GiveBack(n) ==
  /\ cell[n].units > 0
  /\ return[n] = NoReturn
  /\ return' = [return EXCEPT ![n] = [units |-> cell[n].units, end |-> cell[n].end]]
  /\ cell' = [cell EXCEPT ![n] = NoUnits]
  /\ UNCHANGED <<now, store, lease, waiting>>

-----------------------------------------------------------------------------------
(* At the store *)

(* Grants what is left, at most the lease, and possibly nothing. *)
Grant(n) ==
  LET units == IF Kept("grant what is left") THEN Min(lease[n].wanted, Limit - used)
               ELSE lease[n].wanted IN
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

(* A request under a strict rule, on the same counter. *)
Charge(cost) ==
  /\ cost <= Limit - used
  /\ used' = used + cost
  /\ admitted' = admitted + cost
  /\ UNCHANGED <<now, refunded, forfeited, cell, lease, waiting, return>>

(* A refund never lowers the counter below 0. *)
Refund ==
  /\ used > 0
  /\ refunded < MaxRefunds
  /\ used' = used - 1
  /\ refunded' = refunded + 1
  /\ UNCHANGED <<now, admitted, forfeited, cell, lease, waiting, return>>

-----------------------------------------------------------------------------------
(* Messages and time *)

(* A lease is lost: its request or its reply is lost, the call has failed, or the requester
   has ended. Granted units stay counted until the window ends. *)
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

(* Symmetry: nodes are interchangeable. *)
Alike == Permutations(Nodes)

-----------------------------------------------------------------------------------
(* Promises *)

WindowLimit == admitted <= Limit + refunded

CarryLimit == admitted <= Limit + refunded + Cardinality(Nodes) * (Batch - 1)

RECURSIVE Sum(_, _)
Sum(units, nodes) ==
  IF nodes = {} THEN 0
  ELSE LET n == CHOOSE n \in nodes : TRUE
       IN units[n] + Sum(units, nodes \ {n})

OfThisWindow(x) == IF x.end = WindowEnd THEN x.units ELSE 0

(* Units of the store's window that can still be spent, or are in flight. *)
Outstanding ==
  Sum([n \in Nodes |-> OfThisWindow(cell[n]) + OfThisWindow(lease[n])
                       + OfThisWindow(return[n])], Nodes)

(* Each unit that the store has counted was admitted, can still be spent, is in flight or
   is forfeited, and none is counted twice. *)
Accounted == used + refunded = admitted + Outstanding + forfeited

(* The same with refunds, which may lower the counter below the units of a return. It then
   reads high, never low. *)
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
(* Must be violated, to show that the model reaches the bounds and takes the interesting
   steps. *)

NeverTheWholeLimit == admitted < Limit

NeverAllCarried == admitted < Limit + Cardinality(Nodes) * (Batch - 1)

Granted(n) == lease[n].stage = "asked" /\ lease'[n].stage = "granted"
Landed(n) == lease[n].stage = "granted" /\ Land(n)

NeverInPart ==
  [][\A n \in Nodes : Granted(n) => lease'[n].units \in {0, lease[n].wanted}]_vars

(* A reply serves two waiting requests. *)
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
