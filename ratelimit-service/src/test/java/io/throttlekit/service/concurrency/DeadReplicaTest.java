package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.server.Book;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.InMemoryConcurrencyCoordinator;
import io.throttlekit.share.InMemoryReleaseExchange;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Remnant;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Replicas that die while their requests go on, and releases that reach the others. */
class DeadReplicaTest {
  private static final int LIMIT = 12;

  private final ManualTime time = new ManualTime(1_800_000_000_000L);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final AtomicLong incarnations = new AtomicLong();
  private final Map<Coordination, InMemoryConcurrencyCoordinator> stores = new HashMap<>();
  private final InMemoryReleaseExchange exchange = new InMemoryReleaseExchange(time);
  private final List<ReleasedPermits> reported = new ArrayList<>();
  private final Rule one = rule("one", "");
  private final Rule two = rule("two", "");
  private final Replica a = new Replica("a");
  private final Replica b = new Replica("b");
  private final Replica c = new Replica("c");

  /** A process, with its ways to the store. */
  private final class Replica implements ReleaseExchange, ConcurrencyCoordinator {
    final AtomicInteger orphans = new AtomicInteger();
    final ConcurrencyListener events =
        new ConcurrencyListener() {
          @Override
          public void orphansReleased(int releases) {
            orphans.addAndGet(releases);
          }
        };
    final ConcurrencyLimiter limiter;
    boolean dead;
    boolean cut;
    boolean answersAreLost;

    Replica(String node) {
      Fleet fleet = new Fleet(node, _ -> this, incarnations::incrementAndGet, FleetListener.NONE);
      limiter = new ConcurrencyLimiter(time, timer, events, () -> 1_000, fleet);
      limiter.permits().forwardThrough(this, CompletableFuture.completedStage(true));
    }

    private <T> CompletionStage<T> call(Supplier<CompletionStage<T>> call) {
      if (dead) {
        return new CompletableFuture<>();
      }
      if (cut) {
        return CompletableFuture.failedStage(StoreException.notSent("cut off"));
      }
      CompletionStage<T> answer = call.get();
      return answersAreLost ? CompletableFuture.failedStage(StoreException.late("lost")) : answer;
    }

    @Override
    public CompletionStage<Delivery> exchange(String of, long receipt, List<Release> outgoing) {
      return call(() -> exchange.exchange(of, receipt, outgoing));
    }

    @Override
    public CompletionStage<List<String>> claim(String of) {
      return call(() -> exchange.claim(of));
    }

    @Override
    public CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat) {
      return call(() -> store().heartbeat(heartbeat));
    }

    @Override
    public CompletionStage<Void> leave(Departure departure) {
      return call(() -> store().leave(departure));
    }

    @Override
    public CompletionStage<Void> released(ReleasedPermits released) {
      reported.add(released);
      return call(() -> store().released(released));
    }

    /** Acquires as many permits as it can get. */
    List<String> acquire(int requests, Rule... rules) {
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < requests; i++) {
        String id = enter(limiter, rules);
        if (id != null) {
          ids.add(id);
        }
      }
      return ids;
    }

    void streamDone(String id) {
      limiter.permits().streamDone(id, StreamReport.NONE);
    }

    @Override
    public void close() {}
  }

  private InMemoryConcurrencyCoordinator store() {
    Coordination terms = ((ConcurrencyRule.AtService) terms(one).gate()).fleet().coordination();
    return stores.computeIfAbsent(terms, _ -> new InMemoryConcurrencyCoordinator(time, terms));
  }

  /** Lets all three take part. */
  private void join(Rule... rules) {
    for (Replica each : List.of(a, b, c)) {
      each.acquire(1, rules).forEach(each::streamDone);
    }
    run(3_000);
  }

  private int remnants(Rule rule) {
    String key = key(rule);
    Heartbeat probe = new Heartbeat(key, "probe", -1, 2, 1, false, 0, 0, 0, 0, 1, 0, null, null);
    return store().heartbeat(probe).toCompletableFuture().join().remnants().stream()
        .mapToInt(Remnant::permits)
        .sum();
  }

  private String key(Rule rule) {
    List<String> keys = new ArrayList<>();
    b.limiter
        .limits()
        .forEachShared(limit -> {
          if (limit.rule() == rule) {
            keys.add(limit.key());
          }
        });
    return keys.getFirst();
  }

  @Test
  void releasesAtTheOthersFreeThePermitsOfADeadReplica() {
    join(one);
    List<String> ids = a.acquire(LIMIT, one);
    assertThat(ids).hasSize(LIMIT / 3);
    run(1_000);
    a.dead = true;
    run(200);
    b.streamDone(ids.get(0)); // within the lease of a
    c.streamDone(ids.get(1));
    run(3_000);
    assertThat(remnants(one)).isEqualTo(2);
    b.streamDone(ids.get(2));
    c.streamDone(ids.get(3));
    run(300);
    assertThat(remnants(one)).isZero();
    assertThat(b.orphans.get() + c.orphans.get()).isEqualTo(4);
    run(3_000);
    assertThat(b.acquire(LIMIT, one).size() + c.acquire(LIMIT, one).size()).isEqualTo(LIMIT);
  }

  @Test
  void noMoreThanTheLimitIsInFlightWhileRequestsOfADeadReplicaGoOn() {
    join(one);
    List<String> open = new ArrayList<>(a.acquire(LIMIT, one));
    a.dead = true;
    for (int second = 0; second < 20; second++) {
      run(1_000);
      open.addAll(b.acquire(LIMIT, one));
      open.addAll(c.acquire(LIMIT, one));
      assertThat(open).hasSizeLessThanOrEqualTo(LIMIT);
      (second % 2 == 0 ? b : c).streamDone(open.removeFirst());
    }
    run(4_000);
    open.addAll(b.acquire(LIMIT, one));
    open.addAll(c.acquire(LIMIT, one));
    assertThat(open).hasSize(LIMIT);
  }

  @Test
  void withoutReleasesThePermitsOfADeadReplicaEndByTheirTtl() {
    join(one);
    a.acquire(LIMIT, one);
    run(1_000);
    a.dead = true;
    run(60_000);
    assertThat(remnants(one)).isEqualTo(LIMIT / 3);
    run(4_000);
    assertThat(remnants(one)).isZero();
  }

  @Test
  void aReleaseThatItsProcessHasReceivedIsNotCounted() {
    join(one);
    List<String> ids = a.acquire(LIMIT, one);
    run(1_000);
    b.streamDone(ids.get(0));
    run(100); // a has received it, and may have admitted another request
    assertThat(a.acquire(1, one)).hasSize(1);
    a.dead = true;
    run(4_000);
    assertThat(remnants(one)).isEqualTo(LIMIT / 3);
    assertThat(reported).isEmpty();
  }

  @Test
  void inventedReleasesOfADeadReplicaFreeNothing() {
    join(one);
    List<String> ids = a.acquire(LIMIT, one);
    run(1_000);
    a.dead = true;
    for (String id : ids) {
      String invented = id.replaceFirst("-[0-9a-f]{16}", "-00ff00ff00ff00ff");
      b.streamDone(invented);
      // as from a replica of an earlier version, which forwards it
      String address = Objects.requireNonNull(PermitIds.addressIn(id));
      String text = ForwardedRelease.streamDone(invented, StreamReport.NONE).text();
      var _ = exchange.exchange("x-x", 0, List.of(new ReleaseExchange.Release(address, text)));
    }
    c.streamDone(ids.getFirst()); // so that c knows the address
    run(4_000);
    assertThat(remnants(one)).isEqualTo(LIMIT / 3 - 1);
  }

  @Test
  void aReleaseThatIsSentTwiceIsCountedOnce() {
    join(one);
    List<String> ids = a.acquire(LIMIT, one);
    run(1_000);
    a.dead = true;
    run(3_000);
    b.answersAreLost = true;
    b.streamDone(ids.get(0));
    run(30);
    b.answersAreLost = false;
    run(2_000);
    assertThat(remnants(one)).isEqualTo(LIMIT / 3 - 1);
  }

  @Test
  void aPermitOfTwoLimitsIsCountedInBoth() {
    join(one);
    join(two);
    List<String> ids = a.acquire(LIMIT, one, two);
    run(1_000);
    a.dead = true;
    run(100);
    b.streamDone(ids.getFirst());
    run(4_000);
    assertThat(remnants(one)).isEqualTo(LIMIT / 3 - 1);
    assertThat(remnants(two)).isEqualTo(LIMIT / 3 - 1);
  }

  @Test
  void releasesWaitUntilTheLeaseOfTheirLimitHasEnded() {
    join(one);
    run(500); // so that the leases of both limits end at different times
    join(two);
    b.acquire(1, one); // keeps it in the fleet
    b.acquire(1, two);
    List<String> first = a.acquire(LIMIT, one);
    List<String> second = a.acquire(LIMIT, two);
    run(1_300);
    a.dead = true;
    run(100);
    first.forEach(b::streamDone);
    second.forEach(b::streamDone);
    run(4_000);
    assertThat(remnants(one)).isZero();
    assertThat(remnants(two)).isZero();
  }

  @Test
  void aReplicaThatWasCutOffEndsItsPermitsByTheReleasesThatWereCountedMeanwhile() {
    join(one);
    List<String> ids = a.acquire(LIMIT, one);
    run(1_000);
    a.cut = true;
    run(3_000);
    b.streamDone(ids.get(0));
    run(1_000);
    assertThat(remnants(one)).isEqualTo(LIMIT / 3 - 1);
    assertThat(a.limiter.permits().size()).isEqualTo(LIMIT / 3);
    a.cut = false;
    run(5_000);
    assertThat(a.limiter.permits().size()).isEqualTo(LIMIT / 3 - 1);
    assertThat(remnants(one)).isZero();
  }

  @Test
  void theLogEntryOfAnotherReplicasPermitIsForwarded() {
    Rule logged = rule("three", "release: access_log, flush_interval: 0, service_time: 20ms");
    join(logged);
    List<String> ids = a.acquire(2, logged);
    run(1_000);
    int open = a.limiter.permits().size();
    assertThat(b.limiter.permits().awaitsLog(ids.getFirst())).isTrue();
    b.limiter.permits().logged(ids.getFirst(), new Ending.Measured(20_000_000));
    run(100);
    assertThat(a.limiter.permits().size()).isEqualTo(open - 1);
    a.dead = true;
    b.limiter.permits().logged(ids.getLast(), Ending.Plain.ANSWERED);
    run(4_000);
    assertThat(b.orphans.get() + c.orphans.get()).isEqualTo(1);
  }

  @Test
  void theLogEntryOfAStreamDonePermitIsNotForwarded() {
    join(one);
    String id = a.acquire(1, one).getFirst();
    assertThat(b.limiter.permits().awaitsLog(id)).isFalse();
    b.limiter.permits().logged(id, Ending.Plain.ANSWERED);
    run(1_000);
    assertThat(a.limiter.permits().size()).isEqualTo(1);
  }

  private void run(long millis) {
    for (long i = 0; i < millis; i += 10) {
      time.advance(10);
      timer.run();
    }
  }

  private static ConcurrencyRule terms(Rule rule) {
    return Objects.requireNonNull(rule.concurrency());
  }

  private static Rule rule(String key, String release) {
    return Book.of(
            "domain: d\ndescriptors:\n  - {key: %s, concurrency: {min: %d, max: %d, initial: %d, lease: {ttl: 60s, %s}, coordination: {allocation: equal}}}\n"
                .formatted(key, LIMIT, LIMIT, LIMIT, release))
        .rules()
        .getFirst();
  }

  private static @Nullable String enter(ConcurrencyLimiter limiter, Rule... rules) {
    List<ReachedLimit> reached = new ArrayList<>();
    for (Rule rule : rules) {
      ConcurrencyRule terms = terms(rule);
      ConcurrencyRule.AtService gate = (ConcurrencyRule.AtService) terms.gate();
      reached.add(
          new ReachedLimit(rule, terms, gate, new String[] {rule.path(), "v"}, false, true));
    }
    CompletableFuture<@Nullable String> id = new CompletableFuture<>();
    limiter.enter(
        reached,
        50_000_000,
        new PermitAcquisition.AcquisitionCallback() {
          @Override
          public void entered(PermitAcquisition by, @Nullable RequestPermit permit) {
            id.complete(permit == null ? null : permit.id());
          }

          @Override
          public void refused(PermitAcquisition by) {
            id.complete(null);
          }
        });
    return id.getNow(null);
  }
}
