package io.throttlekit.service.concurrency.envoy.replicas;

import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a replica reports to the one that steers, since its last report. Ages are those at the time
 * of the report: replicas have no common clock.
 *
 * @param incarnation random number of the process
 * @param sequence number of the report, from 1; greater than that of any report before it
 * @param dropped outcomes and loads since the last report that were too many to report, from 0
 * @param streams all discovery streams of Envoys at the replica, none if it stops; null if the
 *     report has no list, as nothing has changed
 * @param loads of Envoys, by stream of load reports and cluster
 * @param left streams of load reports that have ended
 * @param outcomes of requests that Envoys logged, the oldest first
 */
public record ReplicaReport(
    long incarnation,
    long sequence,
    long dropped,
    @Nullable List<StreamState> streams,
    List<Load> loads,
    List<Left> left,
    List<Outcome> outcomes) {

  /** Copies the lists. */
  public ReplicaReport {
    streams = streams == null ? null : List.copyOf(streams);
    loads = List.copyOf(loads);
    left = List.copyOf(left);
    outcomes = List.copyOf(outcomes);
  }

  /**
   * Returns the report of a text.
   *
   * @throws IllegalArgumentException when it is not the text of a report, or a number is out of
   *     range
   */
  public static ReplicaReport parse(String text) {
    return ReportText.parse(text);
  }

  /** Returns the report as text for the exchange. */
  public String text() {
    return ReportText.of(this);
  }

  /**
   * The load that a stream reported for a cluster.
   *
   * @param stream number of the stream of load reports, unique at the replica
   * @param inProgress requests in flight, from 0
   * @param succeeded successful answers since the last report to the steering replica, from 0
   */
  public record Load(
      String node, long stream, String cluster, long inProgress, long succeeded, long ageMicros) {}

  /** The end of a stream of load reports. */
  public record Left(String node, long stream) {}

  /**
   * The outcome of a request.
   *
   * @param node the id that the Envoy announced; may be empty
   * @param rttMicros response time of the backend; from 1 if the kind is a sample, 0 if it was not
   *     measured
   * @param beganMicros how long before its arrival the request began, from 0
   * @param ageMicros since its arrival
   * @param route see {@link Reading}
   * @param client see {@link Reading}
   */
  public record Outcome(
      String node,
      String cluster,
      Kind kind,
      long rttMicros,
      long beganMicros,
      long ageMicros,
      String route,
      String client) {

    /** Returns it as it was read from the log. */
    public Reading reading() {
      return new Reading(kind, cluster, rttMicros * 1_000, List.of(), true, route, client);
    }
  }
}
