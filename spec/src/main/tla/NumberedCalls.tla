------------------------------- MODULE NumberedCalls -------------------------------
(* Leases that are asked for again until they are answered (docs/adr/0008). A process sends
   a call under a number, and the same call again under the same number, until an answer
   arrives. Calls and answers take any time, overtake each other, land in a later window, or
   are lost. A store keeps the last number of each process and its answer until the window
   ends. Processes end, and callers wait no longer than they like: an answer counts however
   late it comes, within the window that it is of, measured from when it was asked for.

   What holds: at most Limit units are admitted per window of the store's clock
   (WindowLimit); no unit is credited twice (CreditedOnce); and none is lost but with a
   process that ended, or where no answer came for as long as a window lasts (NothingLost).

   Each safeguard that this rests on has a name. A name in Removed takes the safeguard away,
   and TLC must then find what goes wrong. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Processes,
  Limit,        \* units per window
  Batch,        \* units of a call
  Length,       \* ticks per window
  Windows,      \* how many windows are looked at
  Calls,        \* numbers that a process may use
  MaxInFlight,  \* copies of calls, and answers, of one process that are under way
  Removed       \* names of safeguards that are taken away

Safeguards == {
  "same answer",        \* a store acts once on a number, and repeats what it answered
  "refuse overtaken",   \* a number below the last one of its sender has no effect
  "until the end",      \* numbers are kept until the window ends
  "keep the number",    \* a call without an answer is continued under its number
  "count late answers", \* an answer counts though its caller has gone
  "credit once",        \* a process credits one answer of a number and window
  "lasts since asking"  \* units last as long as the answer says, from when they were asked for
}

ASSUME Removed \subseteq Safeguards
ASSUME Batch > 0 /\ Length > 0 /\ Windows > 0 /\ Calls > 0 /\ MaxInFlight > 0

Kept(safeguard) == safeguard \notin Removed

Numbers == 1..Calls
WindowOf(time) == time \div Length
End(window) == (window + 1) * Length
AllWindows == 0..(Windows - 1)

VARIABLES
  now,       \* the store's clock; processes measure with it, but do not read it
  leased,    \* at the store: units of the window that lasts
  last,      \* at the store: of each process, its last number in that window, and its answer
  call,      \* of each process: its last number, and whether it is still sent
  flying,    \* of each process: calls and answers under way
  answered,  \* of each process: numbers and windows that it had an answer of
  units,     \* of each process and window: what it can spend
  until,     \* of each process and window: when that ends
  alive,     \* processes that have not ended
  admitted,  \* in each window
  granted,   \* of each process, number and window: what the store counted
  credited,  \* of each process, number and window: what the process was given of that
  abandoned  \* processes and numbers that had no answer for as long as a window lasts

process == <<call, answered, units, until>>
vars == <<now, leased, last, call, flying, answered, units, until, alive, admitted,
          granted, credited, abandoned>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

NoNumber == [number |-> 0, units |-> 0]

PerCall == [Processes -> [Numbers -> [AllWindows -> Nat]]]
Nothing == [p \in Processes |-> [n \in Numbers |-> [w \in AllWindows |-> 0]]]

Init ==
  /\ now = 0
  /\ leased = 0
  /\ last = [p \in Processes |-> NoNumber]
  /\ call = [p \in Processes |-> [number |-> 0, open |-> FALSE, since |-> 0]]
  /\ flying = [p \in Processes |-> {}]
  /\ answered = [p \in Processes |-> {}]
  /\ units = [p \in Processes |-> [w \in AllWindows |-> 0]]
  /\ until = [p \in Processes |-> [w \in AllWindows |-> 0]]
  /\ alive = Processes
  /\ admitted = [w \in AllWindows |-> 0]
  /\ granted = Nothing
  /\ credited = Nothing
  /\ abandoned = {}

-----------------------------------------------------------------------------------
(* In a process *)

Request(number) == [kind |-> "request", number |-> number, asked |-> now,
                    window |-> 0, units |-> 0, rest |-> 0]

Send(p, number) ==
  /\ Cardinality(flying[p] \cup {Request(number)}) <= MaxInFlight
  /\ flying' = [flying EXCEPT ![p] = @ \cup {Request(number)}]

(* Units are needed: a call without an answer is continued, or a new one begins. *)
Ask(p) ==
  LET same == call[p].open /\ Kept("keep the number")
      number == IF same THEN call[p].number ELSE call[p].number + 1 IN
  /\ p \in alive
  /\ number \in Numbers
  /\ Send(p, number)
  /\ call' = [call EXCEPT ![p] = [number |-> number, open |-> TRUE, since |-> now]]
  /\ UNCHANGED <<now, leased, last, answered, units, until, alive, admitted, granted,
                 credited, abandoned>>

(* A timer sends it again, whether anyone still waits or not. *)
Repeat(p) ==
  /\ p \in alive
  /\ call[p].open
  /\ Send(p, call[p].number)
  /\ UNCHANGED <<now, leased, last, process, alive, admitted, granted, credited, abandoned>>

(* Nothing came for as long as a window lasts, and nothing more was needed. *)
Abandon(p) ==
  /\ p \in alive
  /\ call[p].open
  /\ now >= call[p].since + Length
  /\ call' = [call EXCEPT ![p].open = FALSE]
  /\ abandoned' = abandoned \cup {<<p, call[p].number>>}
  /\ UNCHANGED <<now, leased, last, flying, answered, units, until, alive, admitted, granted,
                 credited>>

(* An answer arrives, in time for its caller or late. *)
Land(p, a) ==
  LET again == <<a.number, a.window>> \in answered[p]
      dropped == (again /\ Kept("credit once"))
                 \/ (a.asked < now /\ ~Kept("count late answers"))
      ends == (IF Kept("lasts since asking") THEN a.asked ELSE now) + a.rest
      more == IF dropped THEN 0 ELSE a.units IN
  /\ p \in alive
  /\ a \in flying[p]
  /\ a.kind = "answer"
  /\ flying' = [flying EXCEPT ![p] = @ \ {a}]
  /\ answered' = [answered EXCEPT ![p] = @ \cup {<<a.number, a.window>>}]
  /\ call' = IF call[p].number = a.number THEN [call EXCEPT ![p].open = FALSE] ELSE call
  /\ units' = [units EXCEPT ![p][a.window] = @ + more]
  /\ until' = IF more = 0 THEN until ELSE [until EXCEPT ![p][a.window] = Max(@, ends)]
  /\ credited' = [credited EXCEPT ![p][a.number][a.window] = @ + more]
  /\ UNCHANGED <<now, leased, last, alive, admitted, granted, abandoned>>

Admit(p, w) ==
  /\ p \in alive
  /\ units[p][w] > 0
  /\ now < until[p][w]
  /\ units' = [units EXCEPT ![p][w] = @ - 1]
  /\ admitted' = [admitted EXCEPT ![WindowOf(now)] = @ + 1]
  /\ UNCHANGED <<now, leased, last, call, flying, answered, until, alive, granted, credited,
                 abandoned>>

(* It ends at once; one that is started in its place is another. *)
Die(p) ==
  /\ p \in alive
  /\ alive' = alive \ {p}
  /\ UNCHANGED <<now, leased, last, process, flying, admitted, granted, credited, abandoned>>

-----------------------------------------------------------------------------------
(* At the store *)

(* A call arrives, for the first time or again. *)
Act(p, r) ==
  LET known == last[p]
      window == WindowOf(now)
      again == known.number = r.number /\ Kept("same answer")
      overtaken == known.number > r.number /\ Kept("refuse overtaken")
      more == IF again \/ overtaken THEN 0 ELSE Min(Batch, Limit - leased)
      answer == [kind |-> "answer", number |-> r.number, asked |-> r.asked, window |-> window,
                 units |-> IF again THEN known.units ELSE more, rest |-> End(window) - now] IN
  /\ r \in flying[p]
  /\ r.kind = "request"
  /\ flying' = [flying EXCEPT ![p] = (@ \ {r}) \cup (IF overtaken THEN {} ELSE {answer})]
  /\ leased' = leased + more
  /\ granted' = [granted EXCEPT ![p][r.number][window] = @ + more]
  /\ last' = IF again \/ overtaken THEN last
             ELSE [last EXCEPT ![p] = [number |-> r.number, units |-> more]]
  /\ UNCHANGED <<now, process, alive, admitted, credited, abandoned>>

Forget(p) ==
  /\ ~Kept("until the end")
  /\ last' = [last EXCEPT ![p] = NoNumber]
  /\ UNCHANGED <<now, leased, process, flying, alive, admitted, granted, credited, abandoned>>

-----------------------------------------------------------------------------------
(* Between them *)

Lose(p, m) ==
  /\ flying' = [flying EXCEPT ![p] = @ \ {m}]
  /\ UNCHANGED <<now, leased, last, process, alive, admitted, granted, credited, abandoned>>

Tick ==
  /\ now + 1 < Windows * Length
  /\ now' = now + 1
  /\ IF WindowOf(now + 1) > WindowOf(now)
     THEN leased' = 0 /\ last' = [p \in Processes |-> NoNumber]
     ELSE UNCHANGED <<leased, last>>
  /\ UNCHANGED <<process, flying, alive, admitted, granted, credited, abandoned>>

Next ==
  \/ Tick
  \/ \E p \in Processes :
       \/ Ask(p) \/ Repeat(p) \/ Abandon(p) \/ Die(p) \/ Forget(p)
       \/ \E w \in AllWindows : Admit(p, w)
       \/ \E m \in flying[p] : Act(p, m) \/ Land(p, m) \/ Lose(p, m)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Processes)

-----------------------------------------------------------------------------------
(* What holds *)

WindowLimit == \A w \in AllWindows : admitted[w] <= Limit

StoreLimit == leased <= Limit

CreditedOnce ==
  \A p \in Processes, n \in Numbers, w \in AllWindows : credited[p][n][w] <= granted[p][n][w]

(* What was granted of the window that lasts, and is not credited yet, is what a store
   answers when the call is sent again, as it will be. Not so where no answer came for as
   long as a window lasts; and where the number was answered in one window, and a copy of it
   reaches the store in another: that grant counts if its own answer arrives. *)
NothingLost ==
  \A p \in alive, n \in Numbers :
    LET w == WindowOf(now)
        missing == granted[p][n][w] - credited[p][n][w]
    IN missing > 0 =>
         \/ /\ call[p].open /\ call[p].number = n
            /\ last[p] = [number |-> n, units |-> missing]
         \/ <<p, n>> \in abandoned
         \/ /\ <<n, w>> \notin answered[p]
            /\ \E other \in AllWindows \ {w} : <<n, other>> \in answered[p]

TypeOK ==
  /\ now \in 0..(Windows * Length - 1)
  /\ leased \in Nat
  /\ last \in [Processes -> [number : 0..Calls, units : 0..Batch]]
  /\ call \in [Processes -> [number : 0..Calls, open : BOOLEAN, since : Nat]]
  /\ \A p \in Processes : Cardinality(flying[p]) <= MaxInFlight
  /\ granted \in PerCall /\ credited \in PerCall

-----------------------------------------------------------------------------------
(* What must be violated, or the model would prove little. *)

NeverTheWholeLimit == \A w \in AllWindows : admitted[w] < Limit

Landing(p, a) == a.units > 0 /\ Land(p, a)

(* An answer counts when its caller may have gone long ago. *)
NeverLate ==
  [][\A p \in Processes : \A a \in flying[p] :
       Landing(p, a) /\ credited' # credited => now = a.asked]_vars

(* A copy arrives, and is answered as the first was. *)
NeverAgain ==
  [][\A p \in Processes : \A r \in flying[p] :
       r.kind = "request" /\ last[p].number = r.number => ~Act(p, r)]_vars

NeverOvertaken ==
  [][\A p \in Processes : \A r \in flying[p] :
       r.kind = "request" /\ last[p].number > r.number => ~Act(p, r)]_vars

(* A second answer arrives, and is ignored. *)
NeverACopy ==
  [][\A p \in Processes : \A a \in flying[p] : Landing(p, a) => credited' # credited]_vars

(* A number is answered in two windows, and both count. *)
NeverOfTwoWindows ==
  \A p \in Processes, n \in Numbers :
    Cardinality({w \in AllWindows : credited[p][n][w] > 0}) < 2

NeverAbandoned == abandoned = {}
===================================================================================
