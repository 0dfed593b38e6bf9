package io.throttlekit.share;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An exchange in the memory of one process: the reference implementation, sufficient where one
 * process steers. Answers before its method returns. Thread-safe.
 */
public final class InMemorySteeringExchange implements SteeringExchange {
  private final TimeSource time;

  // Guarded by this.
  private final Deque<Waiting> reports = new ArrayDeque<>();
  private @Nullable Holder holder;
  private @Nullable Record record;
  private long epoch;
  private long dropped;
  private boolean closed;

  private record Holder(String replica, long incarnation, long untilMillis) {}

  private record Waiting(Report report, long keptUntilMillis) {}

  /** Creates an exchange without a record, whose leases follow the monotonic clock. */
  public InMemorySteeringExchange(TimeSource time) {
    this.time = time;
  }

  @Override
  public synchronized CompletionStage<Answer> visit(Visit visit) {
    if (closed) {
      return CompletableFuture.failedStage(StoreException.notSent("the exchange is closed"));
    }
    long now = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos());
    boolean steers = holds(visit, now);
    boolean published = steers && publish(visit.record());
    if (!visit.report().isEmpty()) {
      reports.addLast(new Waiting(new Report(visit.replica(), visit.report()), now + KEPT_MILLIS));
      if (reports.size() > MAX_REPORTS) {
        reports.removeFirst();
        dropped++;
      }
    }
    List<Report> delivered = new ArrayList<>();
    long droppedBefore = 0;
    if (steers) {
      for (Waiting waiting : reports) {
        if (waiting.keptUntilMillis() >= now) {
          delivered.add(waiting.report());
        } else {
          dropped++;
        }
      }
      reports.clear();
      droppedBefore = dropped;
      dropped = 0;
    }
    Holder current = holder;
    return CompletableFuture.completedStage(
        new Answer(
            current == null ? "" : current.replica(),
            steers ? epoch : 0,
            published,
            published ? null : newer(visit),
            delivered,
            droppedBefore));
  }

  /** Renews, takes or gives up the lease, and returns whether the replica holds it. */
  private boolean holds(Visit visit, long nowMillis) {
    Holder current = holder;
    boolean own =
        current != null
            && current.replica().equals(visit.replica())
            && current.incarnation() == visit.incarnation();
    boolean ended = current == null || current.untilMillis() < nowMillis;
    if (visit.leaving()) {
      if (own) {
        holder = null;
      }
      return false;
    }
    if (!own && !ended) {
      return false;
    }
    if (!own) {
      // by the wall clock, so that no epoch is used again after a loss of the data
      epoch = Math.max(epoch + 1, time.wallMillis());
    }
    holder = new Holder(visit.replica(), visit.incarnation(), nowMillis + LEASE_MILLIS);
    return true;
  }

  private boolean publish(@Nullable Record next) {
    Record current = record;
    boolean newer =
        next != null
            && next.epoch() == epoch
            && (current == null || current.epoch() < epoch || current.version() < next.version());
    if (newer) {
      record = next;
    }
    return newer;
  }

  private @Nullable Record newer(Visit visit) {
    Record current = record;
    boolean known =
        current == null
            || current.epoch() < visit.knownEpoch()
            || (current.epoch() == visit.knownEpoch() && current.version() <= visit.knownVersion());
    return known ? null : current;
  }

  @Override
  public synchronized void close() {
    closed = true;
  }
}
