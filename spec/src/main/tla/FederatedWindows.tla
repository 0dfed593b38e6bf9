----------------------------- MODULE FederatedWindows -----------------------------
(* The federation as it is built. Processes spend units from memory (L1), the processes
   of a region share an escrow (L2), and all regions share a remote coordinator (L3). It
   keeps a row for the current window and one for the next, and both can be leased. Calls
   and answers take any time, are lost, or arrive twice. A process reads only its own
   clock. From answers it knows until when a window certainly lasts, and from when it has
   certainly ended. In between it spends a unit of that window and one of the next.

   The promise is WindowLimit: at most Limit units are admitted per window of the
   coordinator's clock, whatever the order of events.

   Each safeguard that it depends on has a name. A name in Removed switches the safeguard
   off, and TLC must then find a violation. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Regions,
  Processes,  \* of each region
  Limit,      \* units per window
  Batch,      \* units that a process requests
  Surplus,    \* units that it requests from the coordinator in addition, for its region
  Length,     \* ticks per window
  Windows,    \* number of windows
  Kinds,      \* windows that processes lease: "this", "next"
  Returns,    \* whether processes return units
  MaxBack,    \* ticks by which the coordinator's clock may step back
  Removed     \* names of safeguards that are switched off

Safeguards == {
  "grant what is left",    \* a coordinator grants at most what its row has not counted yet
  "credit once",           \* a grant is credited by its answer, not by each waiting request
  "answer once",           \* an answer that arrives twice is credited once
  "credit to own window",  \* a grant that arrives after its window is not spent in another one
  "forfeit leftover",      \* nor are unspent units of a process when a window ends
  "old unit",              \* while a window may have ended, a unit of it is spent
  "new unit",              \* and one of the next
  "lasts since asking",    \* the time that a window certainly lasts is counted from the call
  "over since answer",     \* the time from which it has certainly ended, from the answer
  "return to own window",  \* units come back to the window they were leased from
  "return once",           \* a return that arrives twice counts once
  "refill once",           \* a refill that arrives twice counts once
  "refill tells bounds",   \* a refill names the times between which its window certainly lasts
  "refill or keep",        \* units that may have reached the escrow are not kept as well
  "row per window",        \* leases of the next window are counted separately
  "rows outlive restart",  \* grants are known after a restart
  "clock after lock",      \* the coordinator's clock is read under the lock
  "only forward"           \* a current window is never followed by an older one
}

ASSUME Removed \subseteq Safeguards
ASSUME Kinds \subseteq {"this", "next"} /\ Returns \in BOOLEAN
ASSUME Batch > 0 /\ Surplus >= 0 /\ Length > 0 /\ Windows > 0 /\ MaxBack >= 0

Kept(safeguard) == safeguard \notin Removed

Nodes == Regions \X Processes
Escrow(n) == n[1]

VARIABLES
  now,       \* real time, which every process measures
  behind,    \* ticks by which the coordinator's clock has stepped back
  rows,      \* at the coordinator: leased units of two windows
  newest,    \* the newest window that was ever current there
  escrow,    \* of each region
  cell,      \* of each process: its bounds of windows, and its units
  call,      \* of each process: a lease of the current window, and one of the next
  back,      \* of each process: a return in flight
  refill,    \* of each process: a refill of its escrow in flight
  admitted   \* of each window

vars == <<now, behind, rows, newest, escrow, cell, call, back, refill, admitted>>
far == <<behind, rows, newest>>
moving == <<call, back, refill>>

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

None == -1

WindowOf(time) == time \div Length
End(window) == (window + 1) * Length

(* Bounds of a window's end in a process: from `early` ticks before it until `late` ticks
   after it, either window may be current. *)
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

(* State of a process at a time: windows that have ended are dropped. *)
Rolled(c, time) ==
  IF c.window = None \/ time < End(c.window) + c.late THEN c
  ELSE LET windows == 1 + (time - End(c.window) - c.late) \div Length
           left == IF Kept("forfeit leftover") THEN 0 ELSE c.units
       IN [c EXCEPT !.window = @ + windows,
                    !.units = left + (IF windows = 1 THEN c.ahead ELSE 0),
                    !.ahead = 0]

(* State of a process after an answer about a window. It moves to a newer window, unless
   it requested that one by name before it had begun. *)
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

(* A process requests units of whichever window is current, or of the next by name. *)
Ask(n, k) ==
  /\ call[n][k] = NoCall
  /\ k = "next" => cell[n].window \in 0..(Windows - 2)
  /\ call' = [call EXCEPT ![n][k] =
       [NoCall EXCEPT !.stage = "asked", !.asked = now,
                      !.window = IF k = "next" THEN cell[n].window + 1 ELSE None]]
  /\ UNCHANGED <<now, far, escrow, cell, back, refill, admitted>>

(* An answer arrives. Units beyond a batch go to the region's escrow, if the window
   certainly lasts long enough for other processes to spend them. *)
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

(* Units of a window are returned, with those of the escrow. *)
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

(* A process is killed, and its units are lost. *)
Crash(n) ==
  /\ cell[n] # Unknown
  /\ cell' = [cell EXCEPT ![n] = Unknown]
  /\ call' = [call EXCEPT ![n] = [k \in Kinds |-> NoCall]]
  /\ UNCHANGED <<now, far, escrow, back, refill, admitted>>

-----------------------------------------------------------------------------------
(* At the escrow, which has its own clock. A refill states between which times of that
   clock the units can be spent: while their window certainly lasts. *)

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

(* A refill or its confirmation is lost; the process cannot know which. *)
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

(* A row of another window is taken to be of an older window, and is reset. *)
Leased(window) ==
  IF rows[Slot(window)].window = window THEN rows[Slot(window)].leased ELSE 0

Current(reading) ==
  IF Kept("only forward") THEN Max(newest, WindowOf(reading)) ELSE WindowOf(reading)

Count(window, units, current) ==
  /\ rows' = [rows EXCEPT ![Slot(window)] =
       [window |-> window, leased |-> Leased(window) + units]]
  /\ newest' = Max(newest, current)

(* If the clock is read before the lock is held, other calls come in between. *)
Read(n, k) ==
  /\ ~Kept("clock after lock")
  /\ call[n][k].stage = "asked"
  /\ call' = [call EXCEPT ![n][k] = [@ EXCEPT !.stage = "read", !.since = Clock]]
  /\ UNCHANGED <<now, far, escrow, cell, back, refill, admitted>>

(* Grants what is left, possibly nothing, of a window that can be leased. *)
Grant(n, k) ==
  LET l == call[n][k]
      reading == IF l.stage = "read" THEN l.since ELSE Clock
      current == Current(reading)
      window == IF k = "next" THEN l.window ELSE current
      wanted == Batch + (IF k = "next" THEN 0 ELSE Surplus)
      units == IF Kept("grant what is left") THEN Min(wanted, Limit - Leased(window)) ELSE wanted
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

(* A call arrives a second time, and the answer to it is lost. *)
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

(* The coordinator restarts with its rows. *)
Restart ==
  /\ call' = [n \in Nodes |-> [k \in Kinds |->
       IF call[n][k].stage \in {"asked", "read"} THEN NoCall ELSE call[n][k]]]
  /\ rows' = IF Kept("rows outlive restart") THEN rows ELSE [slot \in 0..1 |-> NoRow]
  /\ UNCHANGED <<now, behind, newest, escrow, cell, back, refill, admitted>>

(* Another server takes over, whose clock is behind. *)
StepBack ==
  /\ behind < Min(MaxBack, now)
  /\ behind' = behind + 1
  /\ UNCHANGED <<now, rows, newest, escrow, cell, moving, admitted>>

-----------------------------------------------------------------------------------
(* Messages and time *)

(* A call or its answer is lost, or too late for its caller. *)
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
(* Promises. If the coordinator's clock may step back, the current window is not defined,
   and units count in the window that they belong to. *)
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
(* Must be violated, to show that the model reaches the limit and takes the interesting
   steps. *)

NeverTheWholeLimit == \A w \in DOMAIN admitted : admitted[w] < Limit

Landing(n, k) == call[n][k].units > 0 /\ Land(n, k)

(* A window may have ended, and a unit of both is spent. *)
NeverOfBoth == [][\A n \in Nodes : MayBeOver(cell[n]) => ~Admit(n)]_vars

(* A window begins with units that were leased before. *)
NeverReady ==
  [][\A n \in Nodes : cell[n].ahead > 0 /\ cell'[n].window > cell[n].window
                       => cell'[n].units = 0]_vars

NeverInPart ==
  [][\A n \in Nodes :
       Grant(n, "this") => call'[n]["this"].units \in {0, Batch + Surplus}]_vars

NeverGiven == [][\A n \in Nodes : ~Give(n)]_vars

NeverTakenBack == [][\A n \in Nodes : TakeBack(n) => rows' = rows]_vars

NeverForfeited == \A n \in Nodes : back[n] = NoBack \/ back[n].window >= Current(Clock)

(* An answer arrives after its window has ended. *)
NeverLate ==
  [][\A n \in Nodes : \A k \in Kinds :
       Landing(n, k) => cell'[n].window <= call[n][k].window]_vars

(* An answer takes longer than a window. *)
NeverSlow ==
  [][\A n \in Nodes : \A k \in Kinds :
       Landing(n, k) => now - call[n][k].since <= Length]_vars
===================================================================================
