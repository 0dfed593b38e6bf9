------------------------------- MODULE NumberedCalls -------------------------------
(* Lease calls that are repeated until they are answered (docs/adr/0008). A process sends a
   call under a number, and repeats it under the same number until an answer arrives. Calls
   and answers are delayed arbitrarily, overtake each other, arrive in a later window, or
   are lost. A store keeps the last number of each process, with its answer, until the
   window ends. Processes may end, and callers may stop waiting. A late answer counts within
   its window, measured from when the call was sent.

   The promises:
   - WindowLimit: at most Limit units are admitted per window of the store's clock.
   - CreditedOnce: no unit is credited twice.
   - NothingLost: no unit is lost, except with a process that ended, or if no answer came
     for the length of a window.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Processes,
  Limit,        \* units per window
  Batch,        \* units of a call
  Length,       \* ticks per window
  Windows,      \* number of windows
  Calls,        \* numbers that a process may use
  MaxInFlight,  \* copies of calls, and answers, of one process in flight
  Removed       \* names of safeguards that are switched off

Safeguards == {
  "grant what is left", \* a store grants at most what it has not counted yet
  "same answer",        \* a store executes a number once, and repeats its answer
  "refuse overtaken",   \* a number below the last one of its sender has no effect
  "until the end",      \* numbers are kept until the window ends
  "keep the number",    \* a call without an answer is continued under its number
  "count late answers", \* an answer counts although its caller has stopped waiting
  "credit once",        \* a process credits one answer of a number and window
  "lasts since asking"  \* units are valid as long as the answer states, from when the call was sent
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
  leased,    \* at the store: units of the current window
  last,      \* at the store: of each process, its last number in that window, and its answer
  call,      \* of each process: its last number, and whether it is still sent
  flying,    \* of each process: calls and answers in flight
  answered,  \* of each process: numbers and windows that it has an answer for
  units,     \* of each process and window: units that it can spend
  until,     \* of each process and window: when these expire
  alive,     \* processes that have not ended
  admitted,  \* in each window
  granted,   \* of each process, number and window: units that the store counted
  credited,  \* of each process, number and window: units that the process credited
  abandoned  \* processes and numbers without an answer for the length of a window

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

(* A timer repeats the call, whether or not a caller still waits. *)
Repeat(p) ==
  /\ p \in alive
  /\ call[p].open
  /\ Send(p, call[p].number)
  /\ UNCHANGED <<now, leased, last, process, alive, admitted, granted, credited, abandoned>>

(* No answer came for the length of a window, and no more units were needed. *)
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

(* A process is killed. Its successor is another process. *)
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
      left == IF Kept("grant what is left") THEN Limit - leased ELSE Batch
      more == IF again \/ overtaken THEN 0 ELSE Min(Batch, left)
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
(* Messages and time *)

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
(* Promises *)

WindowLimit == \A w \in AllWindows : admitted[w] <= Limit

StoreLimit == leased <= Limit

CreditedOnce ==
  \A p \in Processes, n \in Numbers, w \in AllWindows : credited[p][n][w] <= granted[p][n][w]

(* A grant of the current window that is not credited yet is answered again when the call
   is repeated, as it will be. There are two exceptions: no answer came for the length of a
   window; or the number was answered in one window and a copy of it reaches the store in
   another. The grant to that copy counts only if its own answer arrives. *)
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
(* Must be violated, to show that the model reaches the interesting states. *)

NeverTheWholeLimit == \A w \in AllWindows : admitted[w] < Limit

Landing(p, a) == a.units > 0 /\ Land(p, a)

(* An answer counts after its caller may have stopped waiting. *)
NeverLate ==
  [][\A p \in Processes : \A a \in flying[p] :
       Landing(p, a) /\ credited' # credited => now = a.asked]_vars

(* A copy arrives, and gets the answer of the first call. *)
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
