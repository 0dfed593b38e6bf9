package io.throttlekit.steering;

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
  private SteeringLease lease = SteeringLease.NONE;
  private @Nullable Record record;
  private long dropped;
  private boolean closed;

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
    Record current = record;
    long recordEpoch = current == null ? 0 : current.epoch();
    long recordVersion = current == null ? 0 : current.version();
    lease = lease.after(visit, recordEpoch, recordVersion, now, time.wallMillis());
    boolean steers = lease.isOf(visit);
    boolean published = steers && publish(visit.record());
    if (!visit.report().isEmpty()) {
      leave(new Report(visit.replica(), visit.report()), now);
    }
    List<Report> delivered = steers ? deliver(now) : List.of();
    long droppedBefore = steers ? dropped : 0;
    dropped -= droppedBefore;
    return CompletableFuture.completedStage(
        new Answer(
            lease.holder(now),
            steers ? lease.epoch() : 0,
            published,
            published ? null : newer(visit),
            delivered,
            droppedBefore));
  }

  /** Returns whether the record to publish is the current one now. */
  private boolean publish(@Nullable Record next) {
    if (next == null || next.epoch() != lease.epoch()) {
      return false;
    }
    Record current = record;
    if (current == null || next.isNewerThan(current.epoch(), current.version())) {
      record = next;
      return true;
    }
    return current.epoch() == next.epoch() && current.version() == next.version();
  }

  private void leave(Report report, long nowMillis) {
    reports.addLast(new Waiting(report, nowMillis + KEPT_MILLIS));
    if (reports.size() > MAX_REPORTS) {
      reports.removeFirst();
      dropped++;
    }
  }

  private List<Report> deliver(long nowMillis) {
    List<Report> delivered = new ArrayList<>();
    for (Waiting waiting : reports) {
      if (waiting.keptUntilMillis() >= nowMillis) {
        delivered.add(waiting.report());
      } else {
        dropped++;
      }
    }
    reports.clear();
    return delivered;
  }

  private @Nullable Record newer(Visit visit) {
    Record current = record;
    boolean news = current != null && current.isNewerThan(visit.knownEpoch(), visit.knownVersion());
    return news ? current : null;
  }

  @Override
  public synchronized void close() {
    closed = true;
  }
}
