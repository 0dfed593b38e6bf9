------------------------------ MODULE RecordedShares -----------------------------
(* One limit that is divided over Envoys whose streams land on any replica of the service.
   One replica at a time steers: it divides the limit, as LimitShares does, and publishes the
   result as the record of an exchange that all replicas visit. A replica sends its Envoys
   their shares of the record that its last visit returned. Visits and answers may be late or
   lost. Replicas stop, continue, and crash; a crashed one starts again without memory. Envoys
   move to other replicas at any time, and read the stream they left no longer.

   The limit may change with each round, and may be divided in any way. An acknowledgement
   reaches the steering replica late or never, through whichever replica it was sent to:
   their reports repeat it. A grant that waits on a stream is one that is applied later.

   The promises:
   - Covered: the share that an Envoy applies is reserved in the record.
   - WithinLimit: Envoys apply at most the largest limit in sum.
   - NeverRises: the sum of what the record reserves never rises beyond the limit.
   - Forward: an Envoy never goes back to an earlier record.

   An Envoy whose replica has crashed is one that is not fresh there. One whose share stays
   reserved because it is gone takes no steps.

   Each safeguard that these promises depend on has a name. A name in Removed switches the
   safeguard off, and TLC must then find a violation. With all safeguards, nothing depends on
   what a replaced replica computed, or on answers that bring no news: they are not kept, which
   leaves fewer states. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Replicas,
  Envoys,
  Limits,      \* that may be divided
  MaxNumber,   \* records that a replica computes, each with the next number
  MaxTerms,    \* how many times a replica takes over
  MaxWay,      \* records on their way to be published, and answers on their way to a replica
  Faults,      \* that the promises exclude: "hold ends", "record lost"
  Removed      \* names of safeguards that are switched off

Safeguards == {
  "record before push",  \* a share is sent only once the record with it is published
  "fresh before push",   \* a stream gets nothing before an answer since it began
  "since the visit",     \* that is, since the visit of the answer began, not since it ended
  "newer records only",  \* a replica does not go back to an earlier record
  "reserve the largest", \* a reservation is lowered only after an acknowledgement
  "the last grant counts", \* an acknowledgement of an earlier grant has no effect
  "raise into room",     \* a share rises only by what is not reserved
  "current epoch only",  \* a replaced replica publishes nothing
  "in order",            \* a record that was overtaken is not published
  "start from the record" \* not from what the replica itself knows
}

ASSUME Removed \subseteq Safeguards
ASSUME Faults \subseteq {"hold ends", "record lost"}

Kept(safeguard) == safeguard \notin Removed

NoPlan == [number |-> -1, epoch |-> -1]

Max(a, b) == IF a > b THEN a ELSE b
MaxLimit == CHOOSE l \in Limits : \A other \in Limits : l >= other

RECURSIVE Sum(_, _)
Sum(of, among) ==
  IF among = {} THEN 0
  ELSE LET e == CHOOSE e \in among : TRUE IN of[e] + Sum(of, among \ {e})

VARIABLES
  epoch,     \* of the lease of the replica that took over last
  record,    \* that is published
  sent,      \* records that are on their way to be published
  division,  \* of each replica: what it computed as the steering one, under the epoch of then
  copy,      \* of each replica: the record that it knows
  answers,   \* to each replica: the record at its visit, and the streams that it had then
  stream,    \* of each Envoy: the replica that it is connected to
  fresh,     \* Envoys whose replica has had an answer since they connected
  applies,   \* of each Envoy: its share
  at         \* of each Envoy: the number of the record of that share, which it acknowledged

vars == <<epoch, record, sent, division, copy, answers, stream, fresh, applies, at>>

Shares == [Envoys -> 0..MaxLimit]

(* All shares were given by the record. *)
Init ==
  /\ epoch = 0
  /\ applies \in {shares \in Shares : Sum(shares, Envoys) = MaxLimit}
  /\ record = [epoch |-> 0, number |-> 0, limit |-> MaxLimit, share |-> applies,
               reserved |-> applies, since |-> [e \in Envoys |-> 0]]
  /\ sent = {}
  /\ division = [r \in Replicas |-> NoPlan]
  /\ copy = [r \in Replicas |-> record]
  /\ answers = [r \in Replicas |-> {}]
  /\ stream \in [Envoys -> Replicas]
  /\ fresh = {}
  /\ at = [e \in Envoys |-> 0]

Newer(one, other) ==
  \/ one.epoch > other.epoch
  \/ one.epoch = other.epoch /\ one.number > other.number

Newest(one, other) == IF Newer(one, other) THEN one ELSE other

(* Whether the exchange publishes a record in an epoch in which it has another one. *)
Accepts(plan, current, last) ==
  /\ plan.epoch = current \/ ~Kept("current epoch only")
  /\ Newer(plan, last) \/ ~Kept("in order")

-----------------------------------------------------------------------------------
(* The steering replica. *)

(* A visit takes over the lease of another replica, or that of itself before it crashed.
   Its answer contains the record. *)
TakeOver(r) ==
  LET known == IF division[r] # NoPlan THEN division[r] ELSE copy[r]
      from == IF Kept("start from the record") \/ known = NoPlan
                THEN Newest(record, copy[r])
                ELSE known
  IN
  /\ epoch < MaxTerms
  /\ division[r].epoch # epoch
  /\ epoch' = epoch + 1
  /\ division' = [q \in Replicas |->
       CASE q = r -> [from EXCEPT !.epoch = epoch + 1]
         [] q # r /\ Removed = {} -> NoPlan
         [] OTHER -> division[q]]
  /\ sent' = {plan \in sent : Accepts(plan, epoch + 1, record)}
  /\ UNCHANGED <<record, copy, answers, stream, fresh, applies, at>>

(* A round lowers the reservations of which it learned, and grants shares. A grant has the
   number of its record. A replaced replica may go on, but what it sends is refused. *)
Round(r, learned, gone, limit, share) ==
  LET last == division[r]
      held == [e \in Envoys |->
                 CASE e \in gone -> 0
                   [] e \in learned -> last.share[e]
                   [] OTHER -> last.reserved[e]]
      reserved == [e \in Envoys |->
                     IF Kept("reserve the largest") THEN Max(held[e], share[e]) ELSE share[e]]
      most == IF Kept("raise into room") THEN Max(limit, Sum(held, Envoys)) ELSE 2 * limit
      plan == [epoch |-> last.epoch, number |-> last.number + 1, limit |-> limit,
               share |-> share, reserved |-> reserved,
               since |-> [e \in Envoys |->
                 CASE reserved[e] = share[e] -> 0 \* nothing to acknowledge
                   [] share[e] = last.share[e] -> last.since[e]
                   [] OTHER -> last.number + 1]]
  IN
  /\ Sum(reserved, Envoys) <= most
  /\ \/ share # last.share
     \/ reserved # last.reserved
     \/ limit # last.limit
  /\ division' = [division EXCEPT ![r] = plan]
  /\ \E late \in SUBSET sent : \* the others are lost
       /\ Cardinality(late) < MaxWay
       /\ sent' = late \cup {plan}
  /\ UNCHANGED <<epoch, record, copy, answers, stream, fresh, applies, at>>

MayHaveLearned(r) ==
  {e \in Envoys :
     /\ division[r].reserved[e] # division[r].share[e]
     /\ at[e] >= division[r].since[e] \/ ~Kept("the last grant counts")}

MayBeGone == IF "hold ends" \in Faults THEN Envoys \ fresh ELSE {}

AnyRound(r) ==
  /\ division[r] # NoPlan
  /\ division[r].number < MaxNumber
  /\ division[r].epoch = epoch \/ ~Kept("current epoch only")
  /\ \E learned \in SUBSET MayHaveLearned(r), gone \in SUBSET MayBeGone,
        limit \in Limits, share \in Shares :
       /\ \A e \in gone : share[e] = 0
       /\ Round(r, learned, gone, limit, share)

(* A visit publishes a record, perhaps long after it was sent. *)
Publish(plan) ==
  /\ Accepts(plan, epoch, record)
  /\ record' = plan
  /\ sent' = {other \in sent \ {plan} : Accepts(other, epoch, plan)}
  /\ UNCHANGED <<epoch, division, copy, answers, stream, fresh, applies, at>>

-----------------------------------------------------------------------------------
(* Every replica. *)

There(r) == {e \in Envoys : stream[e] = r}

(* A visit returns the record. The answer to an earlier visit is lost, or late. *)
Visit(r) ==
  /\ \/ Newer(record, copy[r])
     \/ ~(There(r) \subseteq fresh)
  /\ \E late \in SUBSET answers[r] :
       /\ Cardinality(late) < MaxWay
       /\ answers' = [answers EXCEPT ![r] = late \cup
            {[plan |-> record, streams |-> There(r) \ fresh]}]
  /\ UNCHANGED <<epoch, record, sent, division, copy, stream, fresh, applies, at>>

Receive(r, answer) ==
  LET since == IF Kept("since the visit") THEN answer.streams ELSE There(r) IN
  /\ copy' = [copy EXCEPT ![r] =
       IF Kept("newer records only") THEN Newest(answer.plan, @) ELSE answer.plan]
  /\ fresh' = fresh \cup since
  /\ answers' = [answers EXCEPT ![r] = @ \ {answer}]
  /\ UNCHANGED <<epoch, record, sent, division, stream, applies, at>>

Crash(r) ==
  /\ division' = [division EXCEPT ![r] = NoPlan]
  /\ copy' = [copy EXCEPT ![r] = NoPlan]
  /\ answers' = [answers EXCEPT ![r] = {}]
  /\ fresh' = fresh \ There(r)
  /\ UNCHANGED <<epoch, record, sent, stream, applies, at>>

-----------------------------------------------------------------------------------
(* The Envoys. *)

(* Opens a stream, and leaves the one that it had. *)
Connect(e, r) ==
  /\ stream[e] # r
  /\ stream' = [stream EXCEPT ![e] = r]
  /\ fresh' = fresh \ {e}
  /\ answers' = [q \in Replicas |->
       {[answer EXCEPT !.streams = @ \ {e}] : answer \in answers[q]}]
  /\ UNCHANGED <<epoch, record, sent, division, copy, applies, at>>

(* Receives its share, applies and acknowledges it. *)
Apply(e, plan) ==
  /\ plan # NoPlan
  /\ applies' = [applies EXCEPT ![e] = plan.share[e]]
  /\ at' = [at EXCEPT ![e] = plan.number]
  /\ UNCHANGED <<epoch, record, sent, division, copy, answers, stream, fresh>>

Pushed(r) ==
  {copy[r]} \cup IF Kept("record before push") THEN {} ELSE {division[r]}

-----------------------------------------------------------------------------------
(* The exchange loses its data, the lease included. *)
Lose ==
  /\ "record lost" \in Faults
  /\ epoch < MaxTerms
  /\ record.number > 0
  /\ epoch' = epoch + 1
  /\ record' = [epoch |-> 0, number |-> 0, limit |-> 0, share |-> [e \in Envoys |-> 0],
                reserved |-> [e \in Envoys |-> 0], since |-> [e \in Envoys |-> 0]]
  /\ UNCHANGED <<sent, division, copy, answers, stream, fresh, applies, at>>

Next ==
  \/ Lose
  \/ \E plan \in sent : Publish(plan)
  \/ \E r \in Replicas :
       \/ TakeOver(r) \/ AnyRound(r) \/ Visit(r) \/ Crash(r)
       \/ \E answer \in answers[r] : Receive(r, answer)
  \/ \E e \in Envoys :
       \/ \E r \in Replicas : Connect(e, r)
       \/ /\ e \in fresh \/ ~Kept("fresh before push")
          /\ \E plan \in Pushed(stream[e]) : Apply(e, plan)

Spec == Init /\ [][Next]_vars

Alike == Permutations(Envoys) \cup Permutations(Replicas)

-----------------------------------------------------------------------------------
TypeOK ==
  /\ epoch \in 0..MaxTerms
  /\ record.number \in 0..MaxNumber
  /\ record.share \in Shares
  /\ record.reserved \in Shares
  /\ stream \in [Envoys -> Replicas]
  /\ fresh \subseteq Envoys
  /\ applies \in Shares
  /\ at \in [Envoys -> 0..MaxNumber]

Covered == \A e \in Envoys : applies[e] <= record.reserved[e]

WithinLimit == Sum(applies, Envoys) <= MaxLimit

NeverRises ==
  [][Sum(record'.reserved, Envoys) <= Max(record'.limit, Sum(record.reserved, Envoys))]_vars

Forward == [][\A e \in Envoys : at'[e] >= at[e]]_vars

-----------------------------------------------------------------------------------
(* Must be violated, to show that the model reaches the interesting states. *)

(* An Envoy is connected to a replica that knows only an earlier record than the Envoy. *)
NeverBehind == \A e \in Envoys : copy[stream[e]].number >= at[e] \/ copy[stream[e]] = NoPlan

(* A share that is lowered is reserved still. *)
NeverHeldBack == record.reserved = record.share

(* A share that one Envoy released is applied by another one. *)
NeverMoved == \A e \in Envoys : applies[e] = MaxLimit => at[e] < 2

(* A replica was replaced while its record was on its way. *)
NeverRefused == [][epoch' # epoch => sent' = sent]_vars
===================================================================================
