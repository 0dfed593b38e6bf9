package io.throttlekit.steering;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Where replicas elect the one that steers, leave reports for it, and read the record that it
 * publishes.
 *
 * <p>The steering replica holds a lease of {@link #LEASE_MILLIS}. Its visits renew it, the first
 * one of every {@link #RENEW_MILLIS}: a visit that brings, renews and receives nothing writes
 * nothing. Every lease has an epoch, greater than that of any before it: the milliseconds since
 * 1970 at its begin, or one more than the greatest epoch in the exchange or in the visit, whichever
 * is greater; so it rises also after a loss of the data. A lease that has ended can be renewed
 * until another replica takes one. A visitor that knows a record of a later epoch than that of the
 * lease, or the holder if it knows a newer record than the exchange has, begins a lease at once:
 * the exchange has lost data, and the record is to be published again.
 *
 * <p>Only the holder can replace the record, and only while no later epoch has begun: so a record
 * that a replica reads is the newest, and what a replaced holder still publishes is refused. The
 * record is kept for 7 days without visits, or longer. Times follow the exchange's clock. A visit
 * is one atomic step.
 *
 * <p>Texts have no U+0000 and no unpaired surrogates, because stores keep them in UTF-8.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the visit may have taken effect all the same.
 */
public interface SteeringExchange extends AutoCloseable {
  /**
   * The length of a lease, in ms from its last renewal. A replica that makes no more visits steers
   * for {@link #RENEW_MILLIS} less at least, and another one within 3 s.
   */
  long LEASE_MILLIS = 1_750;

  /** The age at which a lease is renewed, in ms. */
  long RENEW_MILLIS = 500;

  /** The greatest epoch and version: doubles represent it, and all below it, exactly. */
  long MAX_NUMBER = (1L << 53) - 1;

  /** The longest id of a replica, in characters. */
  int MAX_REPLICA = 256;

  /** The longest report, in characters. */
  int MAX_REPORT = 1 << 20;

  /** The longest record, in characters. */
  int MAX_RECORD = 1 << 22;

  /** The most reports that wait for the steering replica; of more, the oldest are dropped. */
  int MAX_REPORTS = 64;

  /** How long reports wait for the steering replica, in ms. */
  long KEPT_MILLIS = 5_000;

  /**
   * A record. Newer is the one of the greater epoch, then of the greater version.
   *
   * @param epoch of the lease in which it was published, from 1 to {@link #MAX_NUMBER}
   * @param version from 1 to {@link #MAX_NUMBER}
   * @param text at most {@link #MAX_RECORD} characters
   */
  @SuppressWarnings("AvoidCommonTypeNames") // no code here names java.lang.Record
  record Record(long epoch, long version, String text) {
    /** Checks the ranges. */
    public Record {
      requireNumber(epoch, 1);
      requireNumber(version, 1);
      requireText(text, MAX_RECORD);
    }

    /** Returns whether it is newer than the record with these numbers. */
    public boolean isNewerThan(long otherEpoch, long otherVersion) {
      return epoch > otherEpoch || (epoch == otherEpoch && version > otherVersion);
    }
  }

  /**
   * What a replica brings.
   *
   * @param replica its id, the same for all its visits, of 1 to {@link #MAX_REPLICA} characters;
   *     two processes with one id are distinguished by the incarnation
   * @param incarnation random number of the process
   * @param report for the steering replica, at most {@link #MAX_REPORT} characters; empty for none
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
      if (replica.isEmpty()) {
        throw new IllegalArgumentException("the id of a replica is empty");
      }
      requireText(replica, MAX_REPLICA);
      requireText(report, MAX_REPORT);
      requireNumber(knownEpoch, 0);
      requireNumber(knownVersion, 0);
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
   * @param steering id of the replica that steers; empty if none does and the visiting one leaves
   * @param epoch of the lease if the visiting replica holds it, else 0
   * @param published whether the record of the visit is the current one now; true also if it was
   *     before, as after a lost answer; false if it brought none
   * @param record the current one, if it is newer than that which the replica has and not the one
   *     that it brought; else null
   * @param reports of other replicas and of this one since the last answer to the steering replica,
   *     the oldest first; empty for others. They are removed: a lost answer loses them
   * @param dropped reports that were dropped or expired since then
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

  private static void requireNumber(long number, long min) {
    if (number < min || number > MAX_NUMBER) {
      throw new IllegalArgumentException(
          "epochs and versions are from %d to %d, one was %d".formatted(min, MAX_NUMBER, number));
    }
  }

  private static void requireText(String text, int max) {
    if (text.length() > max) {
      throw new IllegalArgumentException(
          "a text has at most %d characters, one had %d".formatted(max, text.length()));
    }
    if (!isStorable(text)) {
      throw new IllegalArgumentException("a text has U+0000 or an unpaired surrogate");
    }
  }

  private static boolean isStorable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (c == 0 || Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }
}
