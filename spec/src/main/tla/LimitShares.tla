------------------------------ MODULE LimitShares -------------------------------
(* One limit that is divided over Envoys, which receive their shares late, as LimitShares
   does in Java. Grants to an Envoy arrive in order or are lost. Acknowledgements arrive in
   any order, late, repeatedly, or are lost. Connections break. The limit changes. It may
   be divided in any way that does not exceed it. Envoys may have the same node id: the
   server then divides the share of the id over their streams. An Envoy may open a second
   stream while its first is open, and the version that it received identifies it.

   The promises:
   - Covered: the share that an Envoy may apply is reserved.
   - NeverRises: the sum of reservations never rises beyond the limit.
   - Answered: the sum is within the limit once every connected Envoy has acknowledged and
     none has left.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Envoys,
  MaxLimit,
  MaxWay,   \* grants in flight to one Envoy; a newer one waits until it can be sent
  Removed   \* names of safeguards that are switched off

Safeguards == {
  "reserve the largest",    \* share that an Envoy may apply, not the one granted last
  "the last grant counts",  \* an acknowledgement of an older grant has no effect
  "raise into room",        \* a share rises only by what is not reserved
  "reserve for the absent", \* the share of a disconnected Envoy stays reserved until it has ended
  "a part for each stream"  \* a share that was granted on one stream is applied by one Envoy
}

ASSUME Removed \subseteq Safeguards

Kept(safeguard) == safeguard \notin Removed

None == -1

VARIABLES
  limit,
  granted,   \* to each Envoy: the share of its last grant
  reserved,  \* for each Envoy
  present,   \* Envoys that are connected
  way,       \* to each Envoy: grants that it has not received yet
  obeys,     \* of each Envoy: the share that it applies, None while it is not running
  answered   \* of each Envoy: acknowledgements that may still arrive

vars == <<limit, granted, reserved, present, way, obeys, answered>>

(* An acknowledgement is in flight forever: it may be late, and may arrive again. *)
Answers == SUBSET {"of the last grant", "of an older one"}

Init ==
  /\ limit \in 0..MaxLimit
  /\ granted = [e \in Envoys |-> None]
  /\ reserved = [e \in Envoys |-> 0]
  /\ present = {}
  /\ way = [e \in Envoys |-> <<>>]
  /\ obeys = [e \in Envoys |-> None]
  /\ answered = [e \in Envoys |-> {}]

Max(a, b) == IF a > b THEN a ELSE b

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET e == CHOOSE e \in among : TRUE IN of[e] + Sum(of, among \ {e})

Reserved == Sum(reserved, Envoys)
Obeyed == Sum([e \in Envoys |-> Max(0, obeys[e])], Envoys)

(* An Envoy that is new, or has ended, begins without a share. The threshold of its
   bootstrap is not modelled. One that was disconnected is sent its last grant again. *)
Connect(e) ==
  /\ e \notin present
  /\ obeys[e] # None \/ granted[e] = None \* not ended: no other Envoy has its name
  /\ present' = present \cup {e}
  /\ obeys' = [obeys EXCEPT ![e] = Max(0, @)]
  /\ way' = [way EXCEPT ![e] = IF granted[e] = None THEN <<>> ELSE <<granted[e]>>]
  /\ UNCHANGED <<limit, granted, reserved, answered>>

(* It opens a second stream while the first is open, and reads the first no longer. *)
TakeOver(e) ==
  /\ e \in present
  /\ granted[e] # None
  /\ way' = [way EXCEPT ![e] = <<granted[e]>>]
  /\ UNCHANGED <<limit, granted, reserved, present, obeys, answered>>

Disconnect(e) ==
  /\ e \in present
  /\ present' = present \ {e}
  /\ way' = [way EXCEPT ![e] = <<>>]
  /\ reserved' = IF Kept("reserve for the absent") THEN reserved ELSE [reserved EXCEPT ![e] = 0]
  /\ UNCHANGED <<limit, granted, obeys, answered>>

(* It ends. The server learns that later: its lease ends. *)
End(e) ==
  /\ e \notin present
  /\ obeys[e] # None
  /\ obeys' = [obeys EXCEPT ![e] = None]
  /\ UNCHANGED <<limit, granted, reserved, present, way, answered>>

Older(e) == IF answered[e] = {} THEN {} ELSE {"of an older one"}

Forget(e) ==
  /\ e \notin present
  /\ obeys[e] = None
  /\ granted[e] # None
  /\ granted' = [granted EXCEPT ![e] = None]
  /\ reserved' = [reserved EXCEPT ![e] = 0]
  /\ answered' = [answered EXCEPT ![e] = Older(e)]
  /\ UNCHANGED <<limit, present, way, obeys>>

Change ==
  /\ limit' \in 0..MaxLimit \ {limit}
  /\ UNCHANGED <<granted, reserved, present, way, obeys, answered>>

Grant(e, share) ==
  LET room == Max(0, limit - Reserved)
      most == IF Kept("raise into room") THEN reserved[e] + room ELSE limit
      mayObey == IF Kept("reserve the largest") THEN Max(reserved[e], share) ELSE share
  IN
  /\ e \in present
  /\ Len(way[e]) < MaxWay
  /\ share # granted[e]
  /\ share > Max(0, granted[e]) => share <= most
  /\ granted' = [granted EXCEPT ![e] = share]
  /\ reserved' = [reserved EXCEPT ![e] = mayObey]
  /\ way' = [way EXCEPT ![e] = Append(@, share)]
  /\ answered' = [answered EXCEPT ![e] = Older(e)]
  /\ UNCHANGED <<limit, present, obeys>>

(* An Envoy receives a grant, applies it, and acknowledges. *)
Hear(e) ==
  LET of == IF Len(way[e]) = 1 THEN "of the last grant" ELSE "of an older one"
      obeyedBy == IF Kept("a part for each stream") THEN {e} ELSE {e} \cup present
  IN
  /\ way[e] # <<>>
  /\ obeys' = [f \in Envoys |-> IF f \in obeyedBy THEN Head(way[e]) ELSE obeys[f]]
  /\ way' = [way EXCEPT ![e] = Tail(@)]
  /\ answered' = [answered EXCEPT ![e] = @ \cup {of}]
  /\ UNCHANGED <<limit, granted, reserved, present>>

Acknowledge(e) ==
  /\ granted[e] # None
  /\ IF Kept("the last grant counts")
       THEN "of the last grant" \in answered[e]
       ELSE answered[e] # {}
  /\ reserved' = [reserved EXCEPT ![e] = granted[e]]
  /\ UNCHANGED <<limit, granted, present, way, obeys, answered>>

Next ==
  \/ Change
  \/ \E e \in Envoys :
       Connect(e) \/ TakeOver(e) \/ Disconnect(e) \/ End(e) \/ Forget(e) \/ Hear(e) \/ Acknowledge(e)
  \/ \E e \in Envoys, share \in 0..MaxLimit : Grant(e, share)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Envoys)

-----------------------------------------------------------------------------------
TypeOK ==
  /\ limit \in 0..MaxLimit
  /\ granted \in [Envoys -> None..MaxLimit]
  /\ reserved \in [Envoys -> 0..MaxLimit]
  /\ present \subseteq Envoys
  /\ obeys \in [Envoys -> None..MaxLimit]
  /\ answered \in [Envoys -> Answers]

Covered == \A e \in Envoys : obeys[e] <= reserved[e]

Divided == Sum([e \in Envoys |-> Max(0, granted[e])], Envoys) <= limit
Answered ==
  (Divided /\ \A e \in Envoys : reserved[e] = Max(0, granted[e])) => Obeyed <= limit

NeverRises == [][Reserved' <= Max(limit', Reserved)]_vars

(* Must be violated: these things happen. *)
NeverAll == Obeyed < MaxLimit
NeverOver == Obeyed <= limit
NeverLate ==
  ~\E e \in Envoys :
    /\ "of the last grant" \notin answered[e]
    /\ "of an older one" \in answered[e]
    /\ reserved[e] > granted[e]
NeverReserved == \A e \in Envoys : e \notin present => reserved[e] = 0
===================================================================================
