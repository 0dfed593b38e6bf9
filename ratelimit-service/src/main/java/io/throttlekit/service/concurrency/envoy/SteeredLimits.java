package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitDivision;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.envoy.xds.SharePlan;
import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Left;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Load;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Outcome;
import io.throttlekit.service.concurrency.envoy.replicas.ReportingReplicas;
import io.throttlekit.service.concurrency.envoy.replicas.ReportingReplicas.Replica;
import io.throttlekit.service.concurrency.envoy.replicas.SteeringRecord;
import io.throttlekit.service.concurrency.envoy.replicas.SteeringRecord.Learned;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.LoadListener;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.steering.Acknowledgements;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits that this replica steers, from the beginning of its lease to the end: their
 * algorithms, and their division among the Envoys of all replicas.
 *
 * <p>Samples and figures: any thread. All else: one thread at a time. Times are monotonic ns of
 * this process.
 */
final class SteeredLimits implements LoadListener, OutcomeListener {
  private static final Logger LOG = LoggerFactory.getLogger(Steering.class);

  /** Streams of load reports at other replicas are numbered above this, own ones below. */
  private static final long OWN_STREAMS = 1L << 48;

  /** Age from which an outcome is of no use; an honest replica drops it earlier. */
  private static final long MAX_AGE_MICROS = TimeUnit.SECONDS.toMicros(10);

  /** Bounds what one report adds to the count of dropped outcomes. */
  private static final long MAX_DROPPED = 1 << 20;

  private final String own;
  private final String ownKey;
  private final long beganNanos;
  private final ConcurrencyListener listener;
  private final SteeringListener events;
  private final Map<ClusterLimit, Learned> learned;
  private final LimitDivision division;
  private final ReportingReplicas replicas = new ReportingReplicas(OWN_STREAMS);
  private List<StreamState> ownStreams = List.of();
  private volatile Map<ClusterLimit, SharedLimit> limits = Map.of();
  private volatile Map<String, List<SharedLimit>> byCluster = Map.of();
  private volatile Map<ClusterLimit, Acknowledgements> acknowledgements = Map.of();
  private volatile Map<String, String> holders = Map.of();
  private volatile Map<ClusterLimit, Long> reserved = Map.of();
  private volatile int sharedNodes;

  /**
   * Continues from the newest record.
   *
   * @param own id of this replica
   * @param incarnation of this replica
   * @param epoch of its lease
   */
  SteeredLimits(
      String own,
      long incarnation,
      long epoch,
      SteeringRecord last,
      LimitServerSettings settings,
      ConcurrencyListener listener,
      SteeringListener events,
      long nowNanos) {
    this.own = own;
    this.ownKey = ReportingReplicas.key(own, incarnation);
    this.beganNanos = nowNanos;
    this.listener = listener;
    this.events = events;
    this.learned = last.learned();
    this.division = LimitDivision.from(last.plan(), epoch, settings, this::acknowledged, nowNanos);
  }

  /**
   * Applies these rules and no others. Limits that exist already keep their state, also those of
   * the record.
   */
  void follow(Map<ClusterLimit, Rule> rules, long nowNanos) {
    Map<ClusterLimit, SharedLimit> before = limits;
    Map<ClusterLimit, SharedLimit> next = new LinkedHashMap<>();
    rules.forEach(
        (limit, rule) -> next.put(limit, follow(limit, before.get(limit), rule, nowNanos)));
    Map<String, List<SharedLimit>> clusters = new HashMap<>();
    next.forEach(
        (limit, of) -> clusters.computeIfAbsent(limit.cluster(), _ -> new ArrayList<>()).add(of));
    limits = next;
    byCluster = clusters;
    for (ClusterLimit limit : List.copyOf(division.limits())) {
      if (!next.containsKey(limit)) {
        division.withdraw(limit);
        LOG.info("{} is not controlled any more", inWords(limit));
      }
    }
    next.forEach((limit, of) -> {
      if (!before.containsKey(limit)) {
        of.granted(division.reserved(limit)); // of the record, which no report may exceed
      }
    });
  }

  private SharedLimit follow(
      ClusterLimit limit, @Nullable SharedLimit current, Rule rule, long nowNanos) {
    ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
    if (current != null) {
      current.follow(rule, terms);
      return current;
    }
    Learned start = learned.getOrDefault(limit, new Learned(terms.range().initial(), 0));
    SharedLimit created = new SharedLimit(rule, terms, listener, start, nowNanos);
    LOG.info("{} is controlled, from {} requests on", inWords(limit), created.learned().limit());
    return created;
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    of(reading.cluster()).forEach(limit -> limit.ended(node, reading, beganNanos, arrivedNanos));
  }

  @Override
  public void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    of(load.cluster()).forEach(limit -> limit.reported(node, stream, load, arrivedNanos));
  }

  @Override
  public void left(String node, long stream) {
    limits.values().forEach(limit -> limit.left(node, stream));
  }

  private List<SharedLimit> of(String cluster) {
    return byCluster.getOrDefault(cluster, List.of());
  }

  /** Records the discovery streams of this replica. */
  void ownStreams(List<StreamState> streams, long nowNanos) {
    ownStreams = streams;
    division.reported(ownKey, streams, nowNanos);
  }

  /**
   * Applies what a replica reports, as if its Envoys had sent it here.
   *
   * @return whether discovery streams have changed
   * @throws IllegalArgumentException when the report is invalid, or was read before
   */
  boolean report(String replica, String text, long nowNanos) {
    ReplicaReport report = ReplicaReport.parse(text);
    boolean isOwn = ReportingReplicas.key(replica, report.incarnation()).equals(ownKey);
    Replica of = isOwn ? null : replicas.of(replica, report, nowNanos);
    for (Load load : report.loads()) {
      replay(of, load, nowNanos);
    }
    for (Left left : report.left()) {
      left(left.node(), of == null ? left.stream() : replicas.left(of, left));
    }
    long unused = Math.min(report.dropped(), MAX_DROPPED);
    for (Outcome outcome : report.outcomes()) {
      if (outcome.ageMicros() > MAX_AGE_MICROS) {
        unused++;
      } else {
        // It arrives now: the time of an algorithm must not run backwards.
        long before = outcome.ageMicros() + outcome.beganMicros();
        long began = nowNanos - TimeUnit.MICROSECONDS.toNanos(before);
        ended(outcome.node(), outcome.reading(), began, nowNanos);
      }
    }
    if (unused > 0) {
      events.outcomesDropped(unused);
    }
    return of != null && readStreams(of, report, nowNanos);
  }

  private boolean readStreams(Replica of, ReplicaReport report, long nowNanos) {
    List<StreamState> streams = report.streams();
    if (streams == null) {
      return false;
    }
    division.reported(of.key(), streams, nowNanos);
    return of.replace(streams);
  }

  private void replay(@Nullable Replica of, Load load, long nowNanos) {
    long stream = of == null ? load.stream() : replicas.stream(of, load.node(), load.stream());
    if (!of(load.cluster()).isEmpty() && load.ageMicros() <= MAX_AGE_MICROS) {
      reported(
          load.node(),
          stream,
          new ClusterLoad(load.cluster(), load.inProgress(), 0, load.succeeded(), 0, 0, 0),
          nowNanos);
    }
  }

  /** Passes the demand and the current limits to the division. */
  void tick(long nowNanos) {
    for (Replica gone : replicas.removeGone(nowNanos)) {
      division.gone(gone.key());
      ReportingReplicas.forEachStream(gone, this);
      LOG.info("replica {} has not reported for 3 s: its Envoys' shares stay reserved", gone.id());
    }
    String twice = replicas.sharedId(own, beganNanos);
    if (twice != null) {
      events.sameNode(twice);
    }
    Map<String, String> tokens = new HashMap<>();
    ownStreams.forEach(stream -> tokens.put(stream.token(), own));
    for (Replica replica : replicas.all()) {
      replica.streams().forEach(stream -> tokens.put(stream.token(), replica.id()));
    }
    holders = tokens;
    limits.forEach((limit, of) -> {
      for (Envoys.Demand demand : of.demands(nowNanos)) {
        division.seen(demand.node(), demand.seenNanos());
        if (demand.exact() || demand.inFlight() > 0 || demand.refused() > 0) {
          division.demand(limit, demand.node(), demand.inFlight(), demand.refused(), nowNanos);
        }
      }
      division.offer(limit, of.offer(nowNanos));
    });
  }

  /** Divides the limits again, and returns the record to publish if the shares have changed. */
  SharePlan round(long nowNanos) {
    SharePlan plan = division.round(nowNanos);
    Map<ClusterLimit, Acknowledgements> all = HashMap.newHashMap(limits.size());
    Map<ClusterLimit, Long> sums = HashMap.newHashMap(limits.size());
    for (ClusterLimit limit : limits.keySet()) {
      Acknowledgements of = division.acknowledgements(limit);
      if (of != null) {
        all.put(limit, of);
      }
      sums.put(limit, division.reserved(limit).values().stream().mapToLong(Long::longValue).sum());
    }
    acknowledgements = all;
    reserved = sums;
    sharedNodes = division.sharedNodes();
    return plan;
  }

  /** Caps the requests in flight that Envoys report at their shares of now. */
  void capReports() {
    limits.forEach((limit, of) -> of.granted(division.reserved(limit)));
  }

  /** Returns what the limit algorithms have learned. */
  Map<ClusterLimit, Learned> learned() {
    Map<ClusterLimit, Learned> all = HashMap.newHashMap(limits.size());
    limits.forEach((limit, of) -> all.put(limit, of.learned()));
    return all;
  }

  /** Returns the ids of the replicas that held discovery streams at the last tick, by token. */
  Map<String, String> holders() {
    return holders;
  }

  /** Passes each limit to {@code reader} with its rule. */
  void forEach(BiConsumer<Rule, LimiterFigures> reader, long nowNanos) {
    limits.values().forEach(of -> reader.accept(of.rule(), of.figures(nowNanos)));
  }

  /** Passes to {@code reader} how far Envoys have acknowledged each limit, with its rule. */
  void forEachAcknowledged(BiConsumer<Rule, Acknowledgements> reader) {
    limits.forEach((limit, of) -> {
      Acknowledgements acknowledged = acknowledgements.get(limit);
      if (acknowledged != null) {
        reader.accept(of.rule(), acknowledged);
      }
    });
  }

  /** Passes to {@code reader} the requests reserved for Envoys by each limit, with its rule. */
  void forEachReserved(BiConsumer<Rule, Long> reader) {
    limits.forEach((limit, of) -> reader.accept(of.rule(), reserved.getOrDefault(limit, 0L)));
  }

  /** Returns how many limits are kept from rising because too much of the log is missing. */
  long held() {
    return limits.values().stream().filter(SharedLimit::held).count();
  }

  /** Returns how many node ids have several streams, which divide their share. */
  int sharedNodes() {
    return sharedNodes;
  }

  private void acknowledged(ClusterLimit limit, int requests, long sinceNanos) {
    SharedLimit of = limits.get(limit);
    if (of != null) {
      of.acknowledged(requests, sinceNanos);
    }
  }

  private static String inWords(ClusterLimit limit) {
    return "max_requests of cluster "
        + limit.cluster()
        + (limit.priority() == Priority.HIGH ? " for high priority" : "");
  }
}
