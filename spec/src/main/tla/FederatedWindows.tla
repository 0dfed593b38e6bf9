----------------------------- MODULE FederatedWindows -----------------------------
(* The federation as it is built. Processes spend units from memory (L1), the processes
   of a region share an escrow (L2), and all regions share a coordinator far away (L3),
   which keeps a row for the window that lasts and one for the next: both can be leased.
   Calls and answers take any time, are lost, or arrive twice. No process reads a clock
   but its own: from answers it knows until when a window surely lasts and from when on
   it is surely over. In between it spends a unit of that window and one of the next.

   The promise is WindowLimit: whatever the order of events, at most Limit units are
   admitted per window of the coordinator's clock.

   Each safeguard that this rests on has a name. A name in Removed takes the safeguard
   away, and TLC must then find a way beyond the limit. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Regions,
  Processes,  \* of each region
  Limit,      \* units per window
  Batch,      \* units that a process asks for
  Surplus,    \* units that it asks of the coordinator for its region besides
  Length,     \* ticks per window
  Windows,    \* how many windows are looked at
  Kinds,      \* what processes ask for: "this" window, "next"
  Returns,    \* whether they give back
  MaxBack,    \* ticks by which the coordinator's clock may step back
  Removed     \* names of safeguards that are taken away

Safeguards == {
  "credit once",           \* a grant is credited by its answer, not by each who waits
  "answer once",           \* an answer that arrives twice is credited once
  "credit to own window",  \* what lands after its window is not spent in another one
  "forfeit leftover",      \* nor is what a process has left when a window ends
  "old unit",              \* while a window may be over, a unit of it is spent
  "new unit",              \* and one of the next
  "lasts since asking",    \* how long a window lasts runs from when a call was sent
  "over since answer",     \* from when on it is over, from when the answer came
  "return to own window",  \* units come back to the window they were leased from
  "return once",           \* a return that arrives twice counts once
  "refill once",           \* so does a refill
  "refill tells bounds",   \* with a refill goes between when its window surely lasts
  "refill or keep",        \* what may have reached the escrow is not kept as well
  "row per window",        \* the next window's leases are counted apart
  "rows outlive restart",  \* what was granted is known after a restart
  "clock after lock",      \* the coordinator's clock is read when nothing can come between
  "only forward"           \* a window that was once current is not followed by an older
}

ASSUME Removed \subseteq Safeguards
ASSUME Kinds \subseteq {"this", "next"} /\ Returns \in BOOLEAN
ASSUME Batch > 0 /\ Surplus >= 0 /\ Length > 0 /\ Windows > 0 /\ MaxBack >= 0

Kept(safeguard) == safeguard \notin Removed

Nodes == Regions \X Processes
Escrow(n) == n[1]

VARIABLES
  now,       \* real time, which every process measures; the coordinator's clock shows it,
  behind,    \* less what that has stepped back
  rows,      \* at the coordinator: what is leased of two windows
  newest,    \* the newest window that it ever took for the one that lasts
  escrow,    \* of each region
  cell,      \* of each process: what it knows of windows, and its units
  call,      \* of each process: a lease of the window that lasts, and one of the next
  back,      \* of each process: a return on its way
  refill,    \* of each process: a refill of its escrow on its way
  admitted   \* of each window

vars == <<now, behind, rows, newest, escrow, cell, call, back, refill, admitted>>
far == <<behind, rows, newest>>
moving == <<call, back, refill>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

None == -1

WindowOf(time) == time \div Length
End(window) == (window + 1) * Length

(* How well a process knows when windows end: from `early` ticks before the end of one
   until `late` ticks after it, either may last. *)
Unknown == [window |-> None, early |-> 0, late |-> 0, units |-> 0, ahead |-> 0]
NoCall ==
  [stage |-> "none", window |-> None, asked |-> 0, units |-> 0, early |-> 0, since |-> 0]
NoEscrow == [window |-> None, early |-> 0, late |-> 0, units |-> 0]
NoBack == [window |-> None, units |-> 0, known |-> FALSE]
NoRefill == [window |-> None, early |-> 0, late |-> 0, units |-> 0, known |-> FALSE]
NoRow == [window |-> None, leased |-> 0]

Init ==
  /\ now = 0
  /\ behind = 0
  /\ rows = [slot \in 0..1 |-> NoRow]
  /\ newest = 0
  /\ escrow = [r \in Regions |-> NoEscrow]
  /\ cell = [n \in Nodes |-> Unknown]
  /\ call = [n \in Nodes |-> [k \in Kinds |-> NoCall]]
  /\ back = [n \in Nodes |-> NoBack]
  /\ refill = [n \in Nodes |-> NoRefill]
  /\ admitted = [w \in 0..Windows |-> 0]

-----------------------------------------------------------------------------------
(* In a process *)

MayBeOver(c) == now >= End(c.window) - c.early

(* What a process knows and has at a time: windows that are over are left behind. *)
Rolled(c, time) ==
  IF c.window = None \/ time < End(c.window) + c.late THEN c
  ELSE LET windows == 1 + (time - End(c.window) - c.late) \div Length
           left == IF Kept("forfeit leftover") THEN 0 ELSE c.units
       IN [c EXCEPT !.window = @ + windows,
                    !.units = left + (IF windows = 1 THEN c.ahead ELSE 0),
                    !.ahead = 0]

(* What it knows after an answer about a window. It moves on where the answer tells of a
   newer window, unless it named that one itself, before it had begun. *)
Learned(c, window, early, late, kind) ==
  LET newer == c.window = None \/ window > c.window + (IF kind = "next" THEN 1 ELSE 0)
      moved == IF ~newer THEN c
               ELSE [window |-> window, early |-> early, late |-> late, ahead |-> 0,
                     units |-> IF window = c.window + 1 THEN c.ahead ELSE 0]
      both == [moved EXCEPT !.early = Min(@, early), !.late = Min(@, late)]
      closer == IF both.early + both.late >= 0 THEN both
                ELSE [moved EXCEPT !.early = early, !.late = late] \* the clock was set
  IN IF window < moved.window THEN moved ELSE Rolled(closer, now)

(* A request is admitted. *)
Admit(n) ==
  LET c == cell[n]
      old == IF Kept("old unit") \/ ~MayBeOver(c) THEN 1 ELSE 0
      new == IF MayBeOver(c) /\ Kept("new unit") THEN 1 ELSE 0
      counts == IF MaxBack = 0 THEN {WindowOf(now)}
                ELSE {c.window : i \in 1..old} \cup {c.window + 1 : i \in 1..new}
  IN
  /\ c.window # None
  /\ c.units >= old /\ c.ahead >= new
  /\ cell' = [cell EXCEPT ![n].units = @ - old, ![n].ahead = @ - new]
  /\ admitted' = [w \in DOMAIN admitted |-> admitted[w] + IF w \in counts THEN 1 ELSE 0]
  /\ UNCHANGED <<now, far, escrow, moving>>

(* It asks for the window that lasts, whichever that is, or names the next. *)
Ask(n, k) ==
  /\ call[n][k] = NoCall
  /\ k = "next" => cell[n].window \in 0..(Windows - 2)
  /\ call' = [call EXCEPT ![n][k] =
       [NoCall EXCEPT !.stage = "asked", !.asked = now,
                      !.window = IF k = "next" THEN cell[n].window + 1 ELSE None]]
  /\ UNCHANGED <<now, far, escrow, cell, back, refill, admitted>>

(* An answer arrives. Of what is more than a batch, the rest is for the region, where the
   window surely lasts so long that others can spend it. *)
Land(n, k) ==
  LET l == call[n][k]
      late == IF Kept("over since answer") THEN now - l.since ELSE -l.early
      early == IF Kept("lasts since asking") THEN l.early ELSE l.since - now
      c == Learned(cell[n], l.window, early, late, k)
      rest == IF /\ l.units > Batch /\ refill[n] = NoRefill
                 /\ early + late < Length /\ now < End(l.window) - early
              THEN l.units - Batch ELSE 0
      keep == l.units - rest
  IN
  /\ l.stage = "granted"
  /\ \E times \in (IF Kept("credit once") THEN {1} ELSE {1, 2}) :
       cell' = [cell EXCEPT ![n] =
         CASE l.window = c.window     -> [c EXCEPT !.units = @ + times * keep]
           [] l.window = c.window + 1 -> [c EXCEPT !.ahead = @ + times * keep]
           [] Kept("credit to own window") -> c
           [] OTHER                   -> [c EXCEPT !.units = @ + keep]]
  /\ refill' = IF rest = 0 THEN refill
               ELSE [refill EXCEPT ![n] =
                 [window |-> l.window, units |-> rest, known |-> FALSE,
                  early |-> IF Kept("refill tells bounds") THEN early ELSE -late,
                  late |-> IF Kept("refill tells bounds") THEN late ELSE -early]]
  /\ call' \in {[call EXCEPT ![n][k] = NoCall]}
               \cup (IF Kept("answer once") THEN {} ELSE {call})
  /\ UNCHANGED <<now, far, escrow, back, admitted>>

(* Units of a window start on their way back, with what the escrow has of it. *)
GiveBack(n) ==
  LET c == cell[n]
      e == escrow[Escrow(n)] IN
  /\ Returns
  /\ c.window # None
  /\ back[n] = NoBack
  /\ \E ahead \in BOOLEAN :
       LET own == IF ahead THEN c.ahead ELSE c.units
           others == IF ~ahead /\ e.window = c.window THEN e.units ELSE 0 IN
       /\ own > 0
       /\ back' = [back EXCEPT ![n] =
            [window |-> IF ahead THEN c.window + 1 ELSE c.window,
             units |-> own + others, known |-> FALSE]]
       /\ cell' = [cell EXCEPT ![n] =
            IF ahead THEN [@ EXCEPT !.ahead = 0] ELSE [@ EXCEPT !.units = 0]]
       /\ escrow' = IF others = 0 THEN escrow
                    ELSE [escrow EXCEPT ![Escrow(n)] = NoEscrow]
  /\ UNCHANGED <<now, far, call, refill, admitted>>

(* It forgets everything, as when it is killed. *)
Crash(n) ==
  /\ cell[n] # Unknown
  /\ cell' = [cell EXCEPT ![n] = Unknown]
  /\ call' = [call EXCEPT ![n] = [k \in Kinds |-> NoCall]]
  /\ UNCHANGED <<now, far, escrow, back, refill, admitted>>

-----------------------------------------------------------------------------------
(* At the escrow, whose clock is its own: a refill says between which of its times the
   units can be spent, which is when their window surely lasts. *)

Give(n) ==
  LET e == escrow[Escrow(n)]
      l == call[n]["this"]
      units == Min(Batch, e.units) IN
  /\ l.stage = "asked"
  /\ e.units > 0
  /\ End(e.window - 1) + e.late <= now
  /\ now < End(e.window) - e.early
  /\ escrow' = [escrow EXCEPT ![Escrow(n)] =
       IF units = e.units THEN NoEscrow ELSE [@ EXCEPT !.units = @ - units]]
  /\ call' = [call EXCEPT ![n]["this"] =
       [stage |-> "granted", window |-> e.window, asked |-> 0, units |-> units,
        early |-> e.early + now - l.asked, since |-> now - e.late]]
  /\ UNCHANGED <<now, far, cell, back, refill, admitted>>

(* A refill arrives, for the first time or again; the escrow knows its id. *)
Refill(n) ==
  LET f == refill[n]
      e == escrow[Escrow(n)]
      same == e.window = f.window IN
  /\ f # NoRefill
  /\ ~f.known \/ ~Kept("refill once")
  /\ now < End(f.window) - f.early
  /\ refill' = [refill EXCEPT ![n].known = TRUE]
  /\ escrow' = [escrow EXCEPT ![Escrow(n)] =
       [window |-> f.window,
        units |-> f.units + (IF same THEN e.units ELSE 0),
        early |-> IF same THEN Min(e.early, f.early) ELSE f.early,
        late |-> IF same THEN Min(e.late, f.late) ELSE f.late]]
  /\ UNCHANGED <<now, far, cell, call, back, admitted>>

(* A refill, or word that it has arrived, is lost: nobody can say which. *)
LoseRefill(n) ==
  LET f == refill[n] IN
  /\ f # NoRefill
  /\ refill' = [refill EXCEPT ![n] = NoRefill]
  /\ cell' = IF Kept("refill or keep") \/ cell[n].window # f.window THEN cell
             ELSE [cell EXCEPT ![n].units = @ + f.units]
  /\ UNCHANGED <<now, far, escrow, call, back, admitted>>

-----------------------------------------------------------------------------------
(* At the coordinator *)

Clock == now - behind

Slot(window) == IF Kept("row per window") THEN window % 2 ELSE 0

(* A row of another window is taken for one of an older window, and begun anew. *)
Leased(window) ==
  IF rows[Slot(window)].window = window THEN rows[Slot(window)].leased ELSE 0

Current(reading) ==
  IF Kept("only forward") THEN Max(newest, WindowOf(reading)) ELSE WindowOf(reading)

Count(window, units, current) ==
  /\ rows' = [rows EXCEPT ![Slot(window)] =
       [window |-> window, leased |-> Leased(window) + units]]
  /\ newest' = Max(newest, current)

(* Where the clock is read before the lock is had, others come in between. *)
Read(n, k) ==
  /\ ~Kept("clock after lock")
  /\ call[n][k].stage = "asked"
  /\ call' = [call EXCEPT ![n][k] = [@ EXCEPT !.stage = "read", !.since = Clock]]
  /\ UNCHANGED <<now, far, escrow, cell, back, refill, admitted>>

(* As much as is left, which may be nothing; of a window that can be leased. *)
Grant(n, k) ==
  LET l == call[n][k]
      reading == IF l.stage = "read" THEN l.since ELSE Clock
      current == Current(reading)
      window == IF k = "next" THEN l.window ELSE current
      units == Min(Batch + (IF k = "next" THEN 0 ELSE Surplus), Limit - Leased(window))
      time == Max(reading, End(current - 1)) IN
  /\ l.stage = IF Kept("clock after lock") THEN "asked" ELSE "read"
  /\ IF window \in {current, current + 1}
     THEN
       /\ Count(window, units, current)
       /\ call' = [call EXCEPT ![n][k] =
            [stage |-> "granted", window |-> window, asked |-> 0, units |-> units,
             early |-> time - l.asked, since |-> time]]
     ELSE
       /\ call' = [call EXCEPT ![n][k] = NoCall]
       /\ UNCHANGED <<rows, newest>>
  /\ UNCHANGED <<now, behind, escrow, cell, back, refill, admitted>>

(* A call arrives a second time: nobody hears of what it is granted. *)
GrantAgain ==
  LET current == Current(Clock) IN
  \E window \in {current, current + 1} :
    /\ window < Windows
    /\ Leased(window) < Limit
    /\ Count(window, Min(Batch, Limit - Leased(window)), current)
    /\ UNCHANGED <<now, behind, escrow, cell, moving, admitted>>

(* A return arrives, for the first time or again; the row knows its id. *)
TakeBack(n) ==
  LET b == back[n]
      current == Current(Clock)
      lasts == b.window >= current /\ rows[Slot(b.window)].window = b.window
      window == IF Kept("return to own window") THEN b.window ELSE Max(b.window, current)
      credited == (lasts \/ ~Kept("return to own window"))
                  /\ (~b.known \/ ~Kept("return once")) IN
  /\ b # NoBack
  /\ credited
  /\ back' = [back EXCEPT ![n].known = TRUE]
  /\ rows' = [rows EXCEPT ![Slot(window)] =
       [window |-> window, leased |-> Max(0, Leased(window) - b.units)]]
  /\ UNCHANGED <<now, behind, newest, escrow, cell, call, refill, admitted>>

(* It is restarted, with what it has stored. *)
Restart ==
  /\ call' = [n \in Nodes |-> [k \in Kinds |->
       IF call[n][k].stage \in {"asked", "read"} THEN NoCall ELSE call[n][k]]]
  /\ rows' = IF Kept("rows outlive restart") THEN rows ELSE [slot \in 0..1 |-> NoRow]
  /\ UNCHANGED <<now, behind, newest, escrow, cell, back, refill, admitted>>

(* Another takes over, whose clock is behind. *)
StepBack ==
  /\ behind < Min(MaxBack, now)
  /\ behind' = behind + 1
  /\ UNCHANGED <<now, rows, newest, escrow, cell, moving, admitted>>

-----------------------------------------------------------------------------------
(* Between them *)

(* A call or its answer is lost, or too late for whoever waits. *)
LoseCall(n, k) ==
  /\ call[n][k] # NoCall
  /\ call' = [call EXCEPT ![n][k] = NoCall]
  /\ UNCHANGED <<now, far, escrow, cell, back, refill, admitted>>

LoseBack(n) ==
  /\ back[n] # NoBack
  /\ back' = [back EXCEPT ![n] = NoBack]
  /\ UNCHANGED <<now, far, escrow, cell, call, refill, admitted>>

Tick ==
  /\ now < Windows * Length - 1
  /\ now' = now + 1
  /\ cell' = [n \in Nodes |-> Rolled(cell[n], now + 1)]
  /\ escrow' = [r \in Regions |->
       IF now + 1 < End(escrow[r].window) - escrow[r].early THEN escrow[r] ELSE NoEscrow]
  /\ admitted' = IF MaxBack > 0 THEN admitted
                 ELSE [w \in DOMAIN admitted |->
                        IF w < WindowOf(now + 1) THEN 0 ELSE admitted[w]]
  /\ UNCHANGED <<far, moving>>

Next ==
  \/ Tick
  \/ Restart
  \/ StepBack
  \/ GrantAgain
  \/ \E n \in Nodes :
       \/ Admit(n) \/ GiveBack(n) \/ Crash(n)
       \/ Give(n) \/ Refill(n) \/ LoseRefill(n)
       \/ TakeBack(n) \/ LoseBack(n)
       \/ \E k \in Kinds :
            Ask(n, k) \/ Read(n, k) \/ Grant(n, k) \/ Land(n, k) \/ LoseCall(n, k)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Regions) \cup Permutations(Processes)

-----------------------------------------------------------------------------------
(* What is promised. Where the coordinator's clock may step back, nobody can say which
   window lasts, and what counts is the windows whose units were spent. *)
WindowLimit == \A w \in DOMAIN admitted : admitted[w] <= Limit

RowLimit == \A slot \in 0..1 : rows[slot].leased \in 0..Limit

TypeOK ==
  /\ now \in 0..(Windows * Length - 1)
  /\ behind \in 0..MaxBack
  /\ newest \in 0..(Windows - 1)
  /\ \A slot \in 0..1 : rows[slot].window \in None..Windows
  /\ \A r \in Regions :
       escrow[r].units \in Nat /\ (escrow[r].units = 0 => escrow[r] = NoEscrow)
  /\ \A n \in Nodes :
       /\ cell[n].window \in None..(Windows - 1)
       /\ cell[n].units \in Nat /\ cell[n].ahead \in Nat
       /\ cell[n].early + cell[n].late >= 0
       /\ \A k \in Kinds : call[n][k].stage \in {"none", "asked", "read", "granted"}
       /\ back[n].units \in Nat /\ (back[n].units = 0 => back[n] = NoBack)
       /\ refill[n].units \in Nat /\ (refill[n].units = 0 => refill[n] = NoRefill)

-----------------------------------------------------------------------------------
(* What must be violated, or the model would prove little: that the limit is never
   reached and the interesting steps never taken. *)

NeverTheWholeLimit == \A w \in DOMAIN admitted : admitted[w] < Limit

Landing(n, k) == call[n][k].units > 0 /\ Land(n, k)

(* A window may be over, and a unit of both is spent. *)
NeverOfBoth == [][\A n \in Nodes : MayBeOver(cell[n]) => ~Admit(n)]_vars

(* A window begins, and its units are there. *)
NeverReady ==
  [][\A n \in Nodes : cell[n].ahead > 0 /\ cell'[n].window > cell[n].window
                       => cell'[n].units = 0]_vars

NeverInPart ==
  [][\A n \in Nodes :
       Grant(n, "this") => call'[n]["this"].units \in {0, Batch + Surplus}]_vars

NeverGiven == [][\A n \in Nodes : ~Give(n)]_vars

NeverTakenBack == [][\A n \in Nodes : TakeBack(n) => rows' = rows]_vars

NeverForfeited == \A n \in Nodes : back[n] = NoBack \/ back[n].window >= Current(Clock)

(* An answer takes so long that its window is over. *)
NeverLate ==
  [][\A n \in Nodes : \A k \in Kinds :
       Landing(n, k) => cell'[n].window <= call[n][k].window]_vars

(* It takes longer than a window lasts. *)
NeverSlow ==
  [][\A n \in Nodes : \A k \in Kinds :
       Landing(n, k) => now - call[n][k].since <= Length]_vars
===================================================================================
