package io.throttlekit.service.steering;

import io.throttlekit.concurrency.CeilingRange;
import io.throttlekit.concurrency.ConcurrencyLimit;
import io.throttlekit.concurrency.LimiterFigures;
import io.throttlekit.concurrency.ProbedVegasLimit;
import io.throttlekit.concurrency.Sample;
import io.throttlekit.descriptors.Ceiling;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.concurrency.Laws;
import io.throttlekit.service.sensor.Kind;
import io.throttlekit.service.sensor.Load;
import io.throttlekit.service.sensor.Reading;
import io.throttlekit.service.sensor.Timeouts;
import io.throttlekit.service.sensor.Timeouts.Evidence;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The ceiling of one cluster: its law, and all that the law hears from Envoys. Thread-safe; times
 * are monotonic ns.
 */
final class SteeredCeiling {
  /** A log comes once a second: what was refused stands in it beside what was answered then. */
  private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** What one route or one client can take of a limit by timeouts, as long as others have none. */
  private static final int PARTIAL_SHARE = 2;

  private static final long CALM_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Envoys envoys = new Envoys();
  private final LogLoss loss;
  private final Timeouts timeouts = new Timeouts();

  /** The limit when timeouts that count began, for as long as they go on. */
  private int beforeTimeouts;

  private long countedTimeoutNanos;
  private Rule rule;
  private Ceiling terms;
  private ConcurrencyLimit law;
  private boolean refusedOnce;
  private long refusedNanos;
  private boolean heardOfGates;
  private int letIn;
  private long letInNanos;
  private int offered;
  private int steady;
  private boolean held;
  private long refusals;

  /** A ceiling where its range begins. */
  SteeredCeiling(Rule rule, Ceiling terms, long nowNanos) {
    this.rule = rule;
    this.terms = terms;
    this.law = Laws.of(terms.law(), terms.range());
    this.loss = new LogLoss(nowNanos);
    this.offered = law.ceiling();
    this.steady = offered;
  }

  /** Obeys another law or range, if the rule says so now, which begins at the ceiling there is. */
  synchronized void follow(Rule asked, Ceiling wanted) {
    if (!rule.domain().equals(asked.domain()) || !rule.path().equals(asked.path())) {
      refusals = 0; // those were the other's
    }
    rule = asked;
    if (terms.law() != wanted.law() || !terms.range().equals(wanted.range())) {
      CeilingRange range = wanted.range();
      int now = Math.clamp(steady, range.min(), range.max());
      law = Laws.of(wanted.law(), new CeilingRange(range.min(), range.max(), now));
      if (heardOfGates) {
        law.inForce(letIn, letInNanos);
      }
      offered = now;
      steady = now;
    }
    terms = wanted;
  }

  /** The rule that it belongs to. */
  synchronized Rule rule() {
    return rule;
  }

  /** A request has ended, or was refused. */
  synchronized void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    if (reading.kind() == Kind.CEILING_REACHED) {
      refused(node, arrivedNanos);
      return;
    }
    if (succeeded(reading.kind())) {
      loss.logged(arrivedNanos);
    }
    if (reading.kind().isSample()) {
      envoys.ended(node, reading.rttNanos(), arrivedNanos);
    }
    timeouts.ended(reading, arrivedNanos);
    if (reading.kind().isSample() || (reading.kind().isDrop() && counts(arrivedNanos))) {
      boolean full = refusedOnce && arrivedNanos - refusedNanos < FULL_NANOS;
      int inFlight = Math.max(1, envoys.inFlight(arrivedNanos));
      law.learn(
          new Sample(
              beganNanos,
              reading.rttNanos(),
              arrivedNanos,
              full ? Math.max(inFlight, offered) : inFlight,
              full,
              reading.kind().isDrop()));
    }
  }

  /** Returns whether a timeout is evidence of overload, and the limit may fall further by it. */
  private boolean counts(long nowNanos) {
    Evidence evidence = timeouts.evidence(nowNanos);
    if (evidence == Evidence.NONE) {
      return false;
    }
    if (beforeTimeouts == 0 || nowNanos - countedTimeoutNanos > CALM_NANOS) {
      beforeTimeouts = law.ceiling();
    }
    countedTimeoutNanos = nowNanos;
    return evidence == Evidence.WHOLE || law.ceiling() > beforeTimeouts / PARTIAL_SHARE;
  }

  /** An Envoy says what it has in flight, and what it did since it said so last. */
  synchronized void reported(String node, long stream, Load load, long arrivedNanos) {
    envoys.reported(node, stream, load.inProgress(), arrivedNanos);
    if (envoys.mayReport(node)) { // claims of others must not keep the limit from rising
      loss.succeeded(load.succeeded(), arrivedNanos);
    }
  }

  /** A stream of load reports has ended. */
  synchronized void left(String node, long stream) {
    envoys.left(node, stream);
  }

  /**
   * Limits what each Envoy can have in flight to what it was granted.
   *
   * @param reserved requests by node id; none for an id that is not in it
   */
  synchronized void granted(Map<String, Long> reserved) {
    envoys.granted(reserved);
  }

  /** The ceiling that Envoys are to keep to. */
  synchronized int offer(long nowNanos) {
    law.refused(nowNanos, 0); // tells what time it is: a silent log must not keep it measuring
    int wanted = law.ceiling();
    boolean measuring = law instanceof ProbedVegasLimit probed && probed.measuring();
    held = loss.muchIsMissing(nowNanos);
    offered = held ? Math.min(steady, wanted) : wanted;
    if (!measuring) { // a measurement is no fall: what was before it comes back
      steady = offered;
    }
    return offered;
  }

  /** Envoys let in so many together. */
  synchronized void obeyed(int requests, long sinceNanos) {
    heardOfGates = true;
    letIn = requests;
    letInNanos = sinceNanos;
    law.inForce(requests, sinceNanos);
  }

  /** What each Envoy that was heard of could use. */
  synchronized List<Envoys.Demand> demands(long nowNanos) {
    return envoys.demands(nowNanos);
  }

  /** Whether it does not rise, because too much of the log is missing. */
  synchronized boolean held() {
    return held;
  }

  /** Requests that Envoys refused because of it, as far as it was told, since its rule is there. */
  synchronized long refusals() {
    return refusals;
  }

  private void refused(String node, long arrivedNanos) {
    refusals++;
    envoys.refused(node, arrivedNanos);
    if (envoys.mayHaveInFlight(node)) { // one without a share cannot have reached it
      refusedOnce = true;
      refusedNanos = arrivedNanos;
      law.refused(arrivedNanos, 1);
    }
  }

  /** What Envoy's report calls a success, or may: each attempt that was answered without 5xx. */
  private static boolean succeeded(Kind kind) {
    return switch (kind) {
      case ANSWERED, SHED, RETRIED, UNTIMED, CROWDED_OUT -> true;
      default -> false;
    };
  }

  /** What it does now; the queue is Envoy's, and not seen. */
  synchronized LimiterFigures figures(long nowNanos) {
    return new LimiterFigures(offered, envoys.inFlight(nowNanos), 0, 0);
  }
}
