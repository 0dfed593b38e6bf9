package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A store that counts requests at once, and answers when the test decides. For one thread. */
final class HeldStore implements CounterStore {
  static final String NO_ANSWER = "the test's store is down";

  final List<LeaseRequest> leases = new ArrayList<>();
  final List<List<Claim>> acquired = new ArrayList<>();
  final List<Long> waits = new ArrayList<>();
  final List<Long> givenBack = new ArrayList<>();
  private final InMemoryStore store;
  private final Deque<Runnable> replies = new ArrayDeque<>();
  private boolean holding;
  private boolean failing;
  private boolean invalidAnswers;
  private boolean rejecting;

  HeldStore(InMemoryStore store) {
    this.store = store;
  }

  /** Holds replies from now on. */
  void hold() {
    holding = true;
  }

  /** Delivers the oldest held reply. */
  void answerOne() {
    replies.remove().run();
  }

  /** Delivers all held replies and those of calls made in between, and holds none any more. */
  void answerAll() {
    holding = false;
    while (!replies.isEmpty()) {
      answerOne();
    }
  }

  int unanswered() {
    return replies.size();
  }

  /** Fails every call from now on, without counting, or no longer. */
  void fail(boolean fails) {
    failing = fails;
  }

  /** Answers requests with fewer decisions than they have charges. */
  void answerInvalid() {
    invalidAnswers = true;
  }

  /** Throws at requests, as a store does at too many charges. */
  void rejectRequests() {
    rejecting = true;
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    if (rejecting) {
      throw new IllegalArgumentException("too many");
    }
    acquired.add(claims);
    waits.add(waitNanos);
    if (invalidAnswers) {
      return reply(new Outcome(true, List.of()));
    }
    return failing ? failed() : reply(store.decide(claims));
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    leases.add(request);
    return failing ? failed() : reply(store.lease(request).toCompletableFuture().join());
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    givenBack.add(units);
    return failing ? failed() : store.returnUnits(lease, windowEndMillis, units);
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return store.reset(key, algorithm);
  }

  @Override
  public void close() {}

  private <T> CompletionStage<T> reply(T answer) {
    CompletableFuture<T> stage = new CompletableFuture<>();
    if (holding) {
      replies.add(() -> stage.complete(answer));
    } else {
      stage.complete(answer);
    }
    return stage;
  }

  private <T> CompletionStage<T> failed() {
    CompletableFuture<T> stage = new CompletableFuture<>();
    StoreException outage = new StoreException(NO_ANSWER, null);
    if (holding) {
      replies.add(() -> stage.completeExceptionally(outage));
    } else {
      stage.completeExceptionally(outage);
    }
    return stage;
  }
}
