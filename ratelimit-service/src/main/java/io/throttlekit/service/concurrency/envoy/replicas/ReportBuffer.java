package io.throttlekit.service.concurrency.envoy.replicas;

import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Left;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Load;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Outcome;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.LoadListener;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.steering.SteeringExchange;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Collects what a replica reports to the one that steers. Outcomes and loads beyond a bound are
 * dropped and counted, the oldest first. Thread-safe; event loops wait only for a moment. Times are
 * monotonic ns.
 */
public final class ReportBuffer implements OutcomeListener, LoadListener {
  /** Outcomes that wait: those of a few reports, of which one may fail. */
  private static final int MAX_WAITING = 4 * ReportText.MAX_OUTCOMES;

  /** Age from which outcomes are of no use to a limit algorithm. */
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Part of a report, as a divisor, that loads may take, and outcomes. */
  private static final int PART = 2;

  private static final long MAX_COUNT = 1L << 48;
  private static final long MAX_MICROS = TimeUnit.DAYS.toMicros(1);

  private final long incarnation;

  // Guarded by this.
  private final Deque<Waiting> outcomes = new ArrayDeque<>();
  private final Map<Source, Latest> loads = new LinkedHashMap<>();
  private final List<Left> left = new ArrayList<>();
  private long sequence;
  private long dropped;

  private record Waiting(String node, Reading reading, long beganNanos, long arrivedNanos) {}

  private record Source(String node, long stream, String cluster) {}

  private record Latest(long inProgress, long succeeded, long arrivedNanos) {}

  /**
   * @param incarnation random number of the process
   */
  public ReportBuffer(long incarnation) {
    this.incarnation = incarnation;
  }

  /** Adds the outcome of a request. */
  @Override
  public synchronized void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    outcomes.addLast(new Waiting(node, reading, beganNanos, arrivedNanos));
    if (outcomes.size() > MAX_WAITING) {
      outcomes.removeFirst();
      dropped++;
    }
  }

  /** Adds a load; with an earlier one of the stream and cluster that waits, it makes one. */
  @Override
  public synchronized void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    Source source = new Source(node, stream, load.cluster());
    Latest before = loads.get(source);
    if (before == null && loads.size() >= 2 * ReportText.MAX_LOADS) {
      dropped++;
      return;
    }
    long succeeded = load.succeeded() + (before == null ? 0 : before.succeeded);
    loads.put(source, new Latest(load.inProgress(), Math.min(succeeded, MAX_COUNT), arrivedNanos));
  }

  /** Adds the end of a stream of load reports. */
  @Override
  public synchronized void left(String node, long stream) {
    loads.keySet().removeIf(source -> source.stream == stream && source.node.equals(node));
    if (left.size() < ReportText.MAX_LEFT) { // one that is left out expires
      left.add(new Left(node, stream));
    }
  }

  /** Returns whether outcomes fill half of a report. */
  public synchronized boolean isFull() {
    return outcomes.size() >= ReportText.MAX_OUTCOMES / 2;
  }

  /** Returns whether there is anything to report beside the list of streams. */
  public synchronized boolean isEmpty() {
    return outcomes.isEmpty() && loads.isEmpty() && left.isEmpty() && dropped == 0;
  }

  /** Passes on what waits and removes it, as this replica steers now. */
  public synchronized void drainTo(OutcomeListener ends, LoadListener reports) {
    outcomes.forEach(
        next -> ends.ended(next.node, next.reading, next.beganNanos, next.arrivedNanos));
    loads.forEach((source, load) ->
        reports.reported(
            source.node,
            source.stream,
            new ClusterLoad(source.cluster, load.inProgress, 0, load.succeeded, 0, 0, 0),
            load.arrivedNanos));
    outcomes.clear();
    loads.clear();
    left.clear();
    dropped = 0;
  }

  /**
   * Returns the text of the next report, and removes what it contains.
   *
   * @param streams list of all discovery streams; null to leave it out
   */
  public synchronized String next(@Nullable List<StreamState> streams, long nowNanos) {
    int room = SteeringExchange.MAX_REPORT;
    for (StreamState stream : streams == null ? List.<StreamState>of() : streams) {
      room -= ReportText.ITEM_CHARS * (1 + stream.mayApply().size());
      room -= stream.node().length() + stream.token().length();
    }
    List<Load> someLoads = takeLoads(room / PART, nowNanos);
    for (Left ended : left) {
      room -= ReportText.ITEM_CHARS + ended.node().length();
    }
    List<Outcome> some = takeOutcomes(room / PART, nowNanos);
    ReplicaReport report =
        new ReplicaReport(incarnation, ++sequence, dropped, streams, someLoads, left, some);
    left.clear();
    dropped = 0;
    return report.text();
  }

  private List<Load> takeLoads(int room, long nowNanos) {
    List<Load> taken = new ArrayList<>();
    int free = room;
    Iterator<Map.Entry<Source, Latest>> rest = loads.entrySet().iterator();
    while (rest.hasNext() && taken.size() < ReportText.MAX_LOADS) {
      Map.Entry<Source, Latest> next = rest.next();
      Source source = next.getKey();
      free -= ReportText.ITEM_CHARS + source.node.length() + source.cluster.length();
      if (free < 0) {
        break; // the next report has them
      }
      Latest load = next.getValue();
      taken.add(
          new Load(
              source.node,
              source.stream,
              source.cluster,
              Math.min(load.inProgress, MAX_COUNT),
              load.succeeded,
              micros(nowNanos - load.arrivedNanos)));
      rest.remove();
    }
    return taken;
  }

  /** Takes the oldest that there is room for, and drops those that are too old. */
  private List<Outcome> takeOutcomes(int room, long nowNanos) {
    while (!outcomes.isEmpty() && nowNanos - outcomes.getFirst().arrivedNanos > MAX_AGE_NANOS) {
      outcomes.removeFirst();
      dropped++;
    }
    List<Outcome> taken = new ArrayList<>();
    int free = room;
    while (!outcomes.isEmpty() && taken.size() < ReportText.MAX_OUTCOMES) {
      Waiting next = outcomes.getFirst();
      Reading reading = next.reading;
      free -= ReportText.ITEM_CHARS + next.node.length() + reading.cluster().length();
      free -= reading.route().length() + reading.client().length();
      if (free < 0) {
        break; // the next report has them
      }
      outcomes.removeFirst();
      taken.add(
          new Outcome(
              next.node,
              reading.cluster(),
              reading.kind(),
              reading.rttNanos() == 0 ? 0 : Math.max(1, micros(reading.rttNanos())),
              micros(next.arrivedNanos - next.beganNanos),
              micros(nowNanos - next.arrivedNanos),
              reading.route(),
              reading.client()));
    }
    return taken;
  }

  private static long micros(long nanos) {
    return Math.clamp(TimeUnit.NANOSECONDS.toMicros(nanos), 0, MAX_MICROS);
  }
}
