package io.throttlekit.share;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Where replicas elect the one that steers, leave reports for it, and read the record that it
 * publishes.
 *
 * <p>The steering replica holds a lease of {@link #LEASE_MILLIS}, which each of its visits renews.
 * Every lease has an epoch, greater than that of any before it, also after a loss of the data. Only
 * the holder can replace the record, and only while no later epoch has begun: so a record that a
 * replica reads is the newest, and what a replaced holder still publishes is refused. The record
 * outlives its holder. Times follow the exchange's clock. A visit is one atomic step.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the visit may have taken effect all the same.
 */
public interface SteeringExchange extends AutoCloseable {
  /** How long a replica steers without a visit, in ms. Another one steers within 3 s. */
  long LEASE_MILLIS = 1_750;

  /** The longest report, in characters. */
  int MAX_REPORT = 1 << 20;

  /** The longest record, in characters. */
  int MAX_RECORD = 1 << 22;

  /** The most reports that wait for the steering replica; the oldest are dropped. */
  int MAX_REPORTS = 64;

  /** How long reports wait for the steering replica, in ms. */
  long KEPT_MILLIS = 5_000;

  /**
   * A record. Newer is the one of the greater epoch, then of the greater version.
   *
   * @param epoch of the lease in which it was published, from 1
   * @param version from 1
   * @param text at most {@link #MAX_RECORD} characters without U+0000
   */
  record Record(long epoch, long version, String text) {
    /** Checks the ranges. */
    public Record {
      if (epoch < 1 || version < 1) {
        throw new IllegalArgumentException(
            "epochs and versions are from 1, were " + epoch + " and " + version);
      }
      requireText(text, MAX_RECORD);
    }
  }

  /**
   * What a replica brings.
   *
   * @param replica its id, the same for all its visits; two processes with one id are told apart by
   *     the incarnation
   * @param incarnation random number of the process
   * @param report for the steering replica, at most {@link #MAX_REPORT} characters without U+0000;
   *     empty for none
   * @param knownEpoch epoch of the record that the replica has; 0 if it has none
   * @param knownVersion its version; 0 if it has none
   * @param record to publish; null for none. It is published if its epoch is that of the lease that
   *     the replica holds, and it is newer than the current record
   * @param leaving whether the replica gives up the lease, if it holds it, and does not get it
   */
  record Visit(
      String replica,
      long incarnation,
      String report,
      long knownEpoch,
      long knownVersion,
      @Nullable Record record,
      boolean leaving) {
    /** Checks the ranges. */
    public Visit {
      if (replica.isEmpty() || replica.length() > 256) {
        throw new IllegalArgumentException("the id of a replica has 1 to 256 characters");
      }
      requireText(replica, 256);
      requireText(report, MAX_REPORT);
    }
  }

  /**
   * A report that waited for the steering replica.
   *
   * @param replica id of the replica that left it
   * @param text as it was left
   */
  record Report(String replica, String text) {}

  /**
   * The answer to a visit.
   *
   * @param steering id of the replica that steers; empty if none does, because it leaves
   * @param epoch of the lease if the visiting replica holds it, else 0
   * @param published whether the record of the visit was published; false if it brought none
   * @param record the current one, if it is newer than that which the replica has and not the one
   *     that it brought; else null
   * @param reports of other replicas and of this one since the last answer to the steering replica,
   *     the oldest first; empty for others. They are removed: a lost answer loses them
   * @param dropped reports that were dropped since then
   */
  record Answer(
      String steering,
      long epoch,
      boolean published,
      @Nullable Record record,
      List<Report> reports,
      long dropped) {
    /** Copies the list. */
    public Answer {
      reports = List.copyOf(reports);
    }
  }

  /** Makes a visit: the lease first, then the record, then the reports. */
  CompletionStage<Answer> visit(Visit visit);

  /** Rejects new visits and closes connections; visits in flight may fail. */
  @Override
  void close();

  private static void requireText(String text, int max) {
    if (text.length() > max || text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "a text has at most " + max + " characters and no U+0000, had " + text.length());
    }
  }
}
