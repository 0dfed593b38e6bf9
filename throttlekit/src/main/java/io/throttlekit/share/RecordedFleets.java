package io.throttlekit.share;

import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordStore.Step;
import io.throttlekit.share.FleetState.Outcome;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Concurrency limits of fleets in a {@link RecordStore}: one record for each limit, to which each
 * call applies {@link FleetState}'s rules. Leases follow the store's clock.
 *
 * <p>A limit is kept for an hour after its last heartbeat, so that a fleet that was away continues
 * with it, and longer while requests may last longer.
 *
 * <p>Each heartbeat follows the terms of its own coordinator. So new terms may be rolled out node
 * by node: until the last one has them, the limit may change with each heartbeat, and the sum of
 * what is reserved is below the largest of these limits.
 *
 * <p>After a loss of data, the nodes' shares from before are not known: until each node has sent a
 * heartbeat or its lease has ended, requests in flight may reach twice the limit. A clock that
 * steps ahead ends leases early by as much: the nodes' margin has to be larger.
 *
 * <p>Thread-safe and non-blocking, as its store is.
 */
public final class RecordedFleets implements ConcurrencyCoordinator {
  private static final long KEPT_MILLIS = Duration.ofHours(1).toMillis();

  private final RecordStore store;
  private final Coordination terms;

  /**
   * Creates a coordinator.
   *
   * @param store closed with the coordinator
   * @param terms for the heartbeats of this coordinator's nodes
   */
  public RecordedFleets(RecordStore store, Coordination terms) {
    this.store = store;
    this.terms = terms;
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(Heartbeat beat) {
    return store.update(
        name(beat.key()),
        keptFor(beat.leaseMillis() + beat.permitMillis()),
        (record, now) -> {
          FleetState before = read(beat.key(), record);
          Outcome outcome = before.heartbeat(terms, beat, now);
          // A repeated heartbeat is written again: the write that recorded it may not have reached
          // a standby, and this one waits for both.
          boolean rejected = outcome.grant().status() != Status.MEMBER;
          boolean same = rejected && outcome.next().equals(before);
          return new Step<>(same ? record : FleetRecord.write(outcome.next()), outcome.grant());
        });
  }

  @Override
  public CompletionStage<Void> leave(Departure departure) {
    return change(departure.key(), (state, now) -> state.leave(departure, now));
  }

  @Override
  public CompletionStage<Void> released(ReleasedPermits released) {
    return change(released.key(), (state, now) -> state.released(released, now));
  }

  private CompletionStage<Void> change(String key, BiFunction<FleetState, Long, FleetState> rule) {
    return store
        .update(
            name(key),
            keptFor(0),
            (record, now) -> {
              FleetState before = read(key, record);
              FleetState next = rule.apply(before, now);
              return new Step<>(next.equals(before) ? record : FleetRecord.write(next), true);
            })
        .thenAccept(_ -> {});
  }

  private static Duration keptFor(long requestsMillis) {
    return Duration.ofMillis(KEPT_MILLIS + requestsMillis);
  }

  private static String name(String key) {
    return "fleet " + key;
  }

  private static FleetState read(String key, byte @Nullable [] record) {
    try {
      return FleetRecord.read(record);
    } catch (IllegalArgumentException written) {
      throw new StoreException(
          "the record '%s' is not of this program, and has to be deleted: %s"
              .formatted(name(key), written.getMessage()),
          written);
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
