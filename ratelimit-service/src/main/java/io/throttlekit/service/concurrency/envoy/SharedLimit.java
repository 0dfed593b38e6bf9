package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.LoggedRequests;
import io.throttlekit.limit.Sample;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.LimitMoves;
import io.throttlekit.service.concurrency.envoy.replicas.SteeringRecord.Learned;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The concurrency limit of one cluster: its limit algorithm and the samples from Envoys that it
 * receives. Thread-safe; times are monotonic ns.
 */
final class SharedLimit {
  /** Timeouts of only some routes or clients lower the limit to no less than half. */
  private static final int PARTIAL_SHARE = 2;

  /**
   * How long after a refusal the limit counts as full. Logs are sent every second, so an answer
   * logged with a refusal can arrive up to a period later.
   */
  private static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final Envoys envoys = new Envoys();
  private final LogLoss loss;
  private final Timeouts timeouts = new Timeouts();
  private final LoggedRequests requests = new LoggedRequests();

  /**
   * The limit before timeouts lowered it; 0 where none did. Kept until the limit has risen back or
   * all routes and clients were affected, or each run of timeouts would take half again.
   */
  private int beforeTimeouts;

  private Rule rule;
  private ConcurrencyRule terms;
  private ConcurrencyLimit algorithm;
  private boolean refusedOnce;
  private long refusedNanos;
  private boolean acknowledgedOnce;
  private int acknowledged;
  private long acknowledgedNanos;
  private int offered;
  private int steady;
  private boolean held;

  /** Whether a load report has come since the last tick. */
  private boolean reported;

  private final LimitMoves moves;

  /** Creates a limit at the start of its range, whose changes are reported to {@code listener}. */
  SharedLimit(Rule rule, ConcurrencyRule terms, ConcurrencyListener listener, long nowNanos) {
    this(rule, terms, listener, new Learned(terms.range().initial(), 0), nowNanos);
  }

  /** Creates a limit that continues from what another replica has learned. */
  SharedLimit(
      Rule rule,
      ConcurrencyRule terms,
      ConcurrencyListener listener,
      Learned learned,
      long nowNanos) {
    this.rule = rule;
    this.terms = terms;
    this.algorithm = LimitAlgorithms.of(terms, learned.limit());
    this.algorithm.resume(learned.baselineNanos(), nowNanos);
    this.loss = new LogLoss(nowNanos);
    this.offered = algorithm.limit();
    this.steady = offered;
    this.moves = new LimitMoves(listener, offered);
  }

  /**
   * Applies the limit algorithm and the range of the rule if they changed; the new algorithm starts
   * at the current limit.
   */
  void follow(Rule rule, ConcurrencyRule terms) {
    int before;
    int now;
    synchronized (this) {
      before = steady;
      apply(rule, terms);
      now = steady;
    }
    moves.update(
        rule, before, now); // without the lock: event loops that read access logs wait for it
  }

  private void apply(Rule rule, ConcurrencyRule terms) {
    this.rule = rule;
    if (!this.terms.hasAlgorithmOf(terms)) {
      algorithm = LimitAlgorithms.of(terms, steady);
      offered = algorithm.limit();
      steady = offered;
      if (acknowledgedOnce) {
        algorithm.acknowledged(acknowledged, acknowledgedNanos);
      }
      beforeTimeouts = Math.min(beforeTimeouts, terms.range().max()); // it can rise no further
    }
    this.terms = terms;
  }

  /** Returns its rule. */
  synchronized Rule rule() {
    return rule;
  }

  /** Records a request that ended or was refused. */
  synchronized void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    if (reading.kind() == Kind.LIMIT_REACHED) {
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
    boolean dropped = reading.kind().isDrop();
    boolean full = refusedOnce && arrivedNanos - refusedNanos < FULL_NANOS;
    Sample request = new Sample(beganNanos, reading.rttNanos(), arrivedNanos, 1, full, dropped);
    if (reading.kind().isSample() || (dropped && counts(arrivedNanos))) {
      requests.add(request);
      learn(arrivedNanos);
    } else if (reading.rttNanos() > 0) {
      requests.count(request);
    }
  }

  private void learn(long nowNanos) {
    requests.pass(algorithm.isProbing(), nowNanos, this::learn);
  }

  private void learn(Sample sample) {
    algorithm.learn(sample.withAtMost(Math.max(1, envoys.granted())));
  }

  /** Returns whether a timeout is evidence of overload and may lower the limit further. */
  private boolean counts(long nowNanos) {
    return switch (timeouts.evidence(nowNanos)) {
      case NONE -> false;
      case WHOLE -> {
        beforeTimeouts = 0;
        yield true;
      }
      case PARTIAL -> {
        beforeTimeouts = Math.max(beforeTimeouts, algorithm.limit());
        yield algorithm.limit() > beforeTimeouts / PARTIAL_SHARE;
      }
    };
  }

  /** Records the load report of an Envoy. */
  synchronized void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    envoys.reported(node, stream, load.inProgress(), arrivedNanos);
    reported = true;
    if (envoys.mayReport(node)) { // an Envoy without shares must not keep the limit from rising
      loss.succeeded(load.succeeded(), arrivedNanos);
    }
  }

  /** Records the end of a stream of load reports. */
  synchronized void left(String node, long stream) {
    envoys.left(node, stream);
  }

  /**
   * Caps the requests in flight of each Envoy at its granted share.
   *
   * @param reserved requests by node id; 0 for an id that is missing
   */
  synchronized void granted(Map<String, Long> reserved) {
    envoys.granted(reserved);
  }

  /** Returns the limit for Envoys to apply. */
  int offer(long nowNanos) {
    Rule of;
    int before;
    int now;
    int next;
    synchronized (this) {
      of = rule;
      before = steady;
      if (reported) { // else what is in flight is an estimate from the log
        requests.reported(envoys.inFlight(nowNanos), nowNanos);
        reported = false;
      }
      learn(nowNanos);
      algorithm.onTick(nowNanos); // a measurement must end even if the log is silent
      int wanted = algorithm.limit();
      held = loss.muchIsMissing(nowNanos);
      offered = held ? Math.min(steady, wanted) : wanted;
      if (!algorithm.isProbing()) { // a measurement lowers the limit only for a moment
        steady = offered;
      }
      now = steady;
      next = offered;
    }
    moves.update(of, before, now);
    return next;
  }

  /** Records how many requests in total Envoys have acknowledged. */
  synchronized void acknowledged(int requests, long sinceNanos) {
    acknowledgedOnce = true;
    acknowledged = requests;
    acknowledgedNanos = sinceNanos;
    algorithm.acknowledged(requests, sinceNanos);
  }

  /** Returns the demand of each known Envoy. */
  synchronized List<Envoys.Demand> demands(long nowNanos) {
    return envoys.demands(nowNanos);
  }

  /** Returns whether the limit is kept from rising because too much of the log is missing. */
  synchronized boolean held() {
    return held;
  }

  /** Returns what a successor continues from, without the decrease of a measurement. */
  synchronized Learned learned() {
    return new Learned(steady, algorithm.baselineNanos());
  }

  private void refused(String node, long arrivedNanos) {
    envoys.refused(node, arrivedNanos);
    if (envoys.mayHaveInFlight(node)) { // an Envoy without a share cannot have reached the limit
      refusedOnce = true;
      refusedNanos = arrivedNanos;
      algorithm.refused(arrivedNanos, 1);
    }
  }

  /**
   * Returns whether Envoy's load report may count the kind as a success: each attempt that was
   * answered without 5xx.
   */
  private static boolean succeeded(Kind kind) {
    return switch (kind) {
      case ANSWERED, SHED, RETRIED, UNTIMED, CROWDED_OUT -> true;
      default -> false;
    };
  }

  /** Returns the current figures; the queue is Envoy's and unknown. */
  synchronized LimiterFigures figures(long nowNanos) {
    return new LimiterFigures(offered, envoys.inFlight(nowNanos), 0, 0);
  }
}
