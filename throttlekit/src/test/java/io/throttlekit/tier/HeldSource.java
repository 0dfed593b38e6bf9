package io.throttlekit.tier;

import io.throttlekit.ManualTime;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A federation that leases at once, and answers when the test decides. For one thread. */
final class HeldSource implements LeaseSource {
  static final String NO_ANSWER = "the test's coordinator is down";

  final List<LeaseRequest> leases = new ArrayList<>();
  final List<ReturnedUnits> back = new ArrayList<>();
  private final Federation federation;
  private final Deque<Runnable> replies = new ArrayDeque<>();
  private boolean holding;
  private boolean failing;

  /** Returned units. */
  record ReturnedUnits(long windowEndMillis, long units) {}

  /**
   * Creates the federation of one region, with a coordinator that has the wall clock of {@code
   * time}.
   */
  HeldSource(ManualTime time) {
    this.federation =
        new Federation(
            new InMemoryCoordinator(time),
            null,
            new Clocks(time, (_, _) -> {}),
            new FederationSettings("eu", "n1", 1, 1_000),
            FederationListener.NONE);
  }

  /** Holds answers from now on. */
  void hold() {
    holding = true;
  }

  /** Delivers the oldest held answer. */
  void answerOne() {
    replies.remove().run();
  }

  /** Delivers all held answers and those of calls made in between, and holds none any more. */
  void answerAll() {
    holding = false;
    while (!replies.isEmpty()) {
      answerOne();
    }
  }

  /** Fails every call from now on, without a lease, or no longer. */
  void fail(boolean fails) {
    failing = fails;
  }

  @Override
  public CompletionStage<Answered<LeaseGrant>> lease(
      LeaseRequest ask, Consumer<Answered<LeaseGrant>> late) {
    leases.add(ask);
    CompletionStage<Answered<LeaseGrant>> answer =
        failing
            ? CompletableFuture.failedFuture(new StoreException(NO_ANSWER, null))
            : federation.lease(ask, late);
    return held(answer);
  }

  @Override
  public CompletionStage<?> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    back.add(new ReturnedUnits(windowEndMillis, units));
    return held(federation.returnUnits(lease, windowEndMillis, units));
  }

  private <T> CompletionStage<T> held(CompletionStage<T> answer) {
    if (!holding) {
      return answer;
    }
    CompletableFuture<T> stage = new CompletableFuture<>();
    replies.add(() ->
        answer.whenComplete((notified, failure) -> {
          if (failure == null) {
            stage.complete(notified);
          } else {
            stage.completeExceptionally(failure);
          }
        }));
    return stage;
  }
}
