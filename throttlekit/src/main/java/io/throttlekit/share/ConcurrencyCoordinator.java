package io.throttlekit.share;

import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Where the nodes of a fleet agree on concurrency limits and divide them.
 *
 * <p>The sum of what is reserved for all nodes does not rise above the limit. Reserved for a node
 * is the largest of the shares that it may apply and its requests in flight, until its lease ends
 * and the requests that it may have admitted have ended by their time to live. All leases follow
 * the coordinator's clock. The rules are those of {@link FleetState}, which every coordinator
 * applies in one atomic step for each call.
 *
 * <p>Thread-safe and non-blocking. A stage fails with a {@link
 * io.throttlekit.store.StoreException}; the call may have taken effect all the same.
 */
public interface ConcurrencyCoordinator extends AutoCloseable {

  /** Records a heartbeat. A repeated or overtaken one changes nothing. */
  CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat);

  /**
   * Records a heartbeat that is made when its turn to be sent comes. By default that is at once. A
   * coordinator that sends few calls at a time lets the nodes go first that have a share.
   */
  default CompletionStage<ShareGrant> heartbeat(PendingHeartbeat pending) {
    Heartbeat beat = pending.make();
    return beat == null
        ? CompletableFuture.failedStage(StoreException.notSent("the node is closed"))
        : heartbeat(beat);
  }

  /** Removes a node; later heartbeats of its incarnation are answered as evicted. */
  CompletionStage<Void> leave(Departure departure);

  /**
   * Lowers what is reserved for a process that is no member any more. Not to be repeated, because a
   * call that failed may have taken effect.
   */
  CompletionStage<Void> released(ReleasedPermits released);

  /** Rejects new calls and closes connections; calls in flight may fail. */
  @Override
  void close();
}
