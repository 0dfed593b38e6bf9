package io.throttlekit.share;

import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A coordinator whose calls and answers can be held up, lost and counted. For one thread. */
final class HeldCoordinator implements ConcurrencyCoordinator {
  private final ConcurrencyCoordinator coordinator;
  final List<Heartbeat> beats = new ArrayList<>();
  final List<Departure> departures = new ArrayList<>();

  /** Delivers the answers that are held, by the order of their calls. */
  final List<Runnable> answers = new ArrayList<>();

  /** Makes and sends the heartbeats that wait for their turn, while these are held. */
  final List<Runnable> turns = new ArrayList<>();

  boolean holdsTurns;
  boolean holdsAnswers;
  boolean fails;
  boolean failsToLeave;

  HeldCoordinator(ConcurrencyCoordinator coordinator) {
    this.coordinator = coordinator;
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(PendingHeartbeat pending) {
    if (!holdsTurns) {
      return ConcurrencyCoordinator.super.heartbeat(pending);
    }
    CompletableFuture<ShareGrant> answer = new CompletableFuture<>();
    turns.add(() ->
        ConcurrencyCoordinator.super
            .heartbeat(pending)
            .whenComplete((grant, failure) -> {
              if (failure == null) {
                answer.complete(grant);
              } else {
                answer.completeExceptionally(failure);
              }
            }));
    return answer;
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat) {
    beats.add(heartbeat);
    if (fails) {
      return CompletableFuture.failedStage(new StoreException("it is down", null));
    }
    CompletionStage<ShareGrant> answer = coordinator.heartbeat(heartbeat);
    if (!holdsAnswers) {
      return answer;
    }
    CompletableFuture<ShareGrant> held = new CompletableFuture<>();
    answers.add(() -> answer.thenAccept(held::complete));
    return held;
  }

  @Override
  public CompletionStage<Void> leave(Departure departure) {
    departures.add(departure);
    return fails || failsToLeave
        ? CompletableFuture.failedStage(new StoreException("it is down", null))
        : coordinator.leave(departure);
  }

  @Override
  public CompletionStage<Void> released(ReleasedPermits released) {
    return coordinator.released(released);
  }

  @Override
  public void close() {
    coordinator.close();
  }
}
