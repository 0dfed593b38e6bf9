package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.server.Book;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.FleetState;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.InMemoryConcurrencyCoordinator;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Replicas of the service that share concurrency limits, in virtual time. */
class SharedConcurrencyTest {
  private static final long DEADLINE = 50_000_000;
  private static final int LIMIT = 6;

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final AtomicLong incarnations = new AtomicLong();
  private final Map<Coordination, InMemoryConcurrencyCoordinator> stores = new HashMap<>();
  private final List<String> events = new ArrayList<>();
  private final Rule rule = rule("coordination: {allocation: equal}");

  /** Whether the store answers. */
  private boolean up = true;

  private long heartbeats;

  private final FleetListener listener =
      new FleetListener() {
        @Override
        public boolean fenced(Rule rule, String reason, long sinceNanos) {
          events.add("fenced " + rule.path());
          return true;
        }

        @Override
        public boolean unfenced(Rule rule, long sinceNanos) {
          events.add("unfenced " + rule.path());
          return true;
        }

        @Override
        public void sameNode(String node) {
          events.add("same " + node);
        }
      };

  @Test
  void theFirstRequestWaitsForTheShareAndIsAdmitted() {
    Result result = enter(replica("a"), rule, "v");
    assertThat(result.permit).isNotNull();
    assertThat(heartbeats).as("one round trip").isEqualTo(1);
  }

  @Test
  void replicasAdmitOneLimitTogether() {
    ConcurrencyLimiter one = replica("a");
    ConcurrencyLimiter other = replica("b");
    assertThat(admitted(one, 1)).isEqualTo(1);
    enter(other, rule, "v");
    run(3_000);
    int all = 1 + admitted(one, LIMIT) + admitted(other, LIMIT);
    assertThat(all).isEqualTo(LIMIT);
  }

  @Test
  void aReplicaThatClosesLeavesItsShare() {
    ConcurrencyLimiter one = replica("a");
    ConcurrencyLimiter other = replica("b");
    enter(one, rule, "v");
    enter(other, rule, "v");
    run(3_000);
    one.close();
    run(3_000);
    assertThat(share(other)).as("all but its request, which goes on").isEqualTo(LIMIT - 1);
    assertThat(enter(one, rule, "v").permit).isNull();
  }

  @Test
  void limitsOfDifferentEntriesAreShared() {
    ConcurrencyLimiter one = replica("a");
    assertThat(enter(one, rule, "v").permit).isNotNull();
    assertThat(enter(one, rule, "w").permit).isNotNull();
    List<String> keys = new ArrayList<>();
    one.limits().forEachShared(limit -> keys.add(limit.key()));
    assertThat(keys).hasSize(2).allMatch(key -> key.contains("|1:k|1:"));
    keys.forEach(key -> assertThat(state(key).limit()).isEqualTo(LIMIT));
  }

  @Test
  void anIdleLimitSendsNothing() {
    ConcurrencyLimiter one = replica("a");
    Objects.requireNonNull(enter(one, rule, "v").permit).cancelled();
    run(12_000);
    heartbeats = 0;
    run(60_000);
    assertThat(heartbeats).isZero();
    assertThat(enter(one, rule, "v").permit).as("it joins again").isNotNull();
  }

  @Test
  void withoutTheStoreALimitRefusesAfterItsLease() {
    ConcurrencyLimiter one = replica("a");
    assertThat(enter(one, rule, "v").permit).isNotNull();
    up = false;
    run(1_000);
    assertThat(enter(one, rule, "v").permit).as("within its lease").isNotNull();
    run(1_600);
    Result refused = enter(one, rule, "v");
    assertThat(refused.permit).isNull();
    assertThat(refused.answers).as("at once").isEqualTo(1);
    assertThat(events).containsExactly("fenced " + rule.path());
    up = true;
    run(2_500);
    assertThat(events).containsExactly("fenced " + rule.path(), "unfenced " + rule.path());
    assertThat(enter(one, rule, "v").permit).isNotNull();
  }

  @Test
  void aLimitThatIsLocalOnlyGoesOnWithoutTheStore() {
    Rule local = rule("coordination: {allocation: equal, on_outage: local_only}");
    ConcurrencyLimiter one = replica("a");
    ConcurrencyLimiter other = replica("b");
    enter(one, local, "v");
    enter(other, local, "v");
    run(3_000);
    up = false;
    run(3_000);
    int all = 0;
    for (int i = 0; i < LIMIT; i++) {
      all += enter(one, local, "v").permit == null ? 0 : 1;
      all += enter(other, local, "v").permit == null ? 0 : 1;
    }
    assertThat(all).as("each the whole limit, less those in flight").isEqualTo(2 * LIMIT - 2);
    assertThat(events).isEmpty();
  }

  @Test
  void aStoreThatIsAwayAtTheStartRefusesAtOnce() {
    up = false;
    ConcurrencyLimiter one = replica("a");
    Result refused = enter(one, rule, "v");
    assertThat(refused.answers).isEqualTo(1);
    assertThat(refused.permit).isNull();
    assertThat(events).containsExactly("fenced " + rule.path());
  }

  @Test
  void aRequestThatLeavesWhileItWaitsHoldsNothing() {
    ConcurrencyLimiter one = replica("a");
    List<CompletableFuture<ShareGrant>> held = new ArrayList<>();
    hold = held;
    Result gone = enter(one, rule, "v");
    assertThat(gone.answers).isZero();
    gone.acquisition.cancel();
    hold = null;
    held.forEach(answer -> answer.completeExceptionally(new StoreException("late", null)));
    run(2_000);
    assertThat(gone.answers).isZero();
    assertThat(admitted(one, LIMIT)).isEqualTo(LIMIT);
  }

  @Test
  void aRequestThatOnlyLooksAndLeavesWhileItWaitsIsNotAnswered() {
    ConcurrencyLimiter one = replica("a");
    List<CompletableFuture<ShareGrant>> held = new ArrayList<>();
    hold = held;
    Result gone = new Result(one, rule, "v", true, true);
    assertThat(gone.answers).isZero();
    gone.acquisition.cancel();
    held.forEach(answer -> answer.completeExceptionally(new StoreException("late", null)));
    assertThat(gone.answers).isZero();
  }

  @Test
  void inShadowModeARequestDoesNotWait() {
    Rule shadow =
        Book.of(
                "domain: d\ndescriptors:\n  - {key: k, shadow_mode: true, concurrency: {min: 6,"
                    + " max: 6}}\n")
            .rules()
            .getFirst();
    hold = new ArrayList<>();
    ConcurrencyLimiter one = replica("a");
    Result result = new Result(one, shadow, "v", false, false);
    assertThat(result.answers).isEqualTo(1);
  }

  @Test
  void anotherCoordinationAppliesOnceNothingIsInFlight() {
    ConcurrencyLimiter one = replica("a");
    RequestPermit held = Objects.requireNonNull(enter(one, rule, "v").permit);
    Rule after = rule("coordination: {allocation: demand}");
    RequestPermit second = Objects.requireNonNull(enter(one, after, "v").permit);
    assertThat(stores).hasSize(1);
    held.cancelled();
    second.cancelled();
    assertThat(enter(one, after, "v").permit).isNotNull();
    assertThat(stores).hasSize(2);
  }

  @Test
  void anotherRangeAppliesToTheSharedLimit() {
    ConcurrencyLimiter one = replica("a");
    assertThat(enter(one, rule, "v").permit).isNotNull();
    Rule less =
        Book.of(
                "domain: d\ndescriptors:\n  - {key: k, concurrency: {min: 2, max: 2, coordination:"
                    + " {allocation: equal}}}\n")
            .rules()
            .getFirst();
    assertThat(enter(one, less, "v").permit).isNotNull();
    run(1_500);
    assertThat(share(one)).isEqualTo(2);
    assertThat(enter(one, less, "v").permit).isNull();
  }

  @Test
  void twoProcessesWithOneIdAreNoticedButNotARestart() {
    ConcurrencyLimiter one = replica("a");
    assertThat(enter(one, rule, "v").permit).isNotNull();
    ConcurrencyLimiter other = replica("a");
    enter(other, rule, "v");
    for (int second = 0; second < 13; second++) {
      run(1_000);
      enter(other, rule, "v");
    }
    assertThat(events).as("evicted limits may overlap").isEmpty();
    for (int second = 0; second < 4; second++) {
      run(1_000);
      enter(other, rule, "v");
    }
    assertThat(events).contains("same a");
  }

  private @Nullable List<CompletableFuture<ShareGrant>> hold;

  private ConcurrencyLimiter replica(String node) {
    Fleet fleet = new Fleet(node, this::coordinator, incarnations::incrementAndGet, listener);
    return new ConcurrencyLimiter(time, timer, ConcurrencyListener.NONE, () -> 1_000, fleet);
  }

  private ConcurrencyCoordinator coordinator(Coordination terms) {
    InMemoryConcurrencyCoordinator store =
        stores.computeIfAbsent(terms, _ -> new InMemoryConcurrencyCoordinator(time, terms));
    return new ConcurrencyCoordinator() {
      @Override
      public CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat) {
        heartbeats++;
        if (hold != null) {
          CompletableFuture<ShareGrant> answer = new CompletableFuture<>();
          hold.add(answer);
          return answer;
        }
        return up
            ? store.heartbeat(heartbeat)
            : CompletableFuture.failedStage(new StoreException("it is down", null));
      }

      @Override
      public CompletionStage<Void> leave(Departure departure) {
        return store.leave(departure);
      }

      @Override
      public CompletionStage<Void> released(ReleasedPermits released) {
        return store.released(released);
      }

      @Override
      public void close() {}
    };
  }

  private FleetState state(String key) {
    return stores.values().iterator().next().state(key);
  }

  private int share(ConcurrencyLimiter replica) {
    List<Integer> shares = new ArrayList<>();
    replica.limits().forEachShared(limit -> shares.add(limit.figures().share()));
    return shares.getFirst();
  }

  private int admitted(ConcurrencyLimiter replica, int requests) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += enter(replica, rule, "v").permit == null ? 0 : 1;
    }
    return admitted;
  }

  private void run(long millis) {
    for (long i = 0; i < millis; i += 10) {
      time.advance(10);
      timer.run();
    }
  }

  private static Result enter(ConcurrencyLimiter replica, Rule rule, String value) {
    return new Result(replica, rule, value, false, true);
  }

  private static Rule rule(String more) {
    return Book.of(
            "domain: d\ndescriptors:\n  - {key: k, concurrency: {min: 6, max: 6, lease: {ttl: 1h}, "
                + more
                + "}}\n")
        .rules()
        .getFirst();
  }

  /** A request and its answer. */
  private static final class Result implements PermitAcquisition.AcquisitionCallback {
    private final PermitAcquisition acquisition;
    private @Nullable RequestPermit permit;
    private int answers;

    Result(ConcurrencyLimiter replica, Rule rule, String value, boolean looks, boolean refuses) {
      ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
      String[] entries = {"k", value};
      acquisition =
          replica.enter(
              List.of(
                  new ReachedLimit(
                      rule,
                      terms,
                      (ConcurrencyRule.AtService) terms.gate(),
                      entries,
                      looks,
                      refuses)),
              DEADLINE,
              this);
    }

    @Override
    public void entered(PermitAcquisition acquisition, @Nullable RequestPermit permit) {
      this.permit = permit;
      answers++;
    }

    @Override
    public void refused(PermitAcquisition acquisition) {
      answers++;
    }
  }
}
