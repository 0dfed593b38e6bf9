package io.throttlekit.share;

import io.throttlekit.TimeSource;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A heartbeat of a node, made when it is sent. Thread-safe. */
final class NodeHeartbeat implements PendingHeartbeat {
  private final String key;
  private final LeasedShare share;
  private final TimeSource time;
  private final Supplier<@Nullable Heartbeat> report;

  /** When it was sent; written before the report. */
  private long sentNanos;

  private volatile @Nullable Heartbeat made;

  /**
   * @param report reads the state of the node; null if it is closed
   */
  NodeHeartbeat(
      String key, LeasedShare share, TimeSource time, Supplier<@Nullable Heartbeat> report) {
    this.key = key;
    this.share = share;
    this.time = time;
    this.report = report;
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public long leftNanos() {
    return share.isLeased() ? share.fenceNanos() - time.monotonicNanos() : 0;
  }

  @Override
  public @Nullable Heartbeat make() {
    sentNanos = time.monotonicNanos(); // first: what is reported is no older
    Heartbeat beat = report.get();
    made = beat;
    return beat;
  }

  /** Sends it when its turn comes; a bug there must not end the heartbeats. */
  CompletionStage<ShareGrant> sendTo(ConcurrencyCoordinator coordinator) {
    try {
      return coordinator.heartbeat(this);
    } catch (RuntimeException bug) {
      return CompletableFuture.failedStage(bug);
    }
  }

  /** Returns whether it waits for its turn. */
  boolean isPending() {
    return made == null;
  }

  /** Returns the heartbeat that was answered. */
  Heartbeat made() {
    return Objects.requireNonNull(made, "an answer comes after the heartbeat");
  }

  /** Returns when it was sent. */
  long sentNanos() {
    return sentNanos;
  }
}
