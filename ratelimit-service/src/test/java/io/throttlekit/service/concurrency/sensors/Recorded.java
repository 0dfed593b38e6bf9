package io.throttlekit.service.concurrency.sensors;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Records all notifications. Thread-safe, except for iteration over its lists. */
public final class Recorded implements OutcomeListener, LoadListener {

  /** A request that ended. */
  public record Ended(String node, Reading reading, long beganNanos, long arrivedNanos) {}

  /** A load report of a cluster. */
  public record Report(String node, long stream, ClusterLoad load, long arrivedNanos) {}

  /** A stream of load reports that ended. */
  public record EndedStream(String node, long stream) {}

  public final List<Ended> ended = Collections.synchronizedList(new ArrayList<>());
  public final List<Report> reports = Collections.synchronizedList(new ArrayList<>());
  public final List<EndedStream> left = Collections.synchronizedList(new ArrayList<>());

  /** Returns the readings of the ended requests, in order. */
  public List<Reading> readings() {
    return List.copyOf(ended).stream().map(Ended::reading).toList();
  }

  /** Returns the number of ended requests of that kind. */
  public long count(Kind kind) {
    return List.copyOf(ended).stream().filter(each -> each.reading().kind() == kind).count();
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    ended.add(new Ended(node, reading, beganNanos, arrivedNanos));
  }

  @Override
  public void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {
    reports.add(new Report(node, stream, load, arrivedNanos));
  }

  @Override
  public void left(String node, long stream) {
    left.add(new EndedStream(node, stream));
  }
}
