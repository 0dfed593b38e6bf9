package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.service.server.Book;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Records the events of a limiter. */
public final class RecordingConcurrencyListener implements ConcurrencyListener {
  private static final String LARGE = "max: 100000, initial: 100000";

  public final List<Refusal> refusals = new CopyOnWriteArrayList<>();
  public final List<PermitEnd> ends = new CopyOnWriteArrayList<>();
  public final List<StreamEnd> reported = new CopyOnWriteArrayList<>();
  public final List<IgnoredReport> ignored = new CopyOnWriteArrayList<>();
  public final AtomicInteger leased = new AtomicInteger();
  public final AtomicInteger stale = new AtomicInteger();
  public final AtomicInteger forwarded = new AtomicInteger();
  public final AtomicInteger received = new AtomicInteger();
  public final Map<DroppedRelease, Long> dropped = new ConcurrentHashMap<>();
  public final List<String> failedExchanges = new CopyOnWriteArrayList<>();
  public final AtomicInteger changes = new AtomicInteger();
  public final List<Integer> moves = new CopyOnWriteArrayList<>();
  public final AtomicInteger noRoom = new AtomicInteger();

  /** Returns a lease of one request in flight. */
  public static RequestPermit lease(ConcurrencyLimiter gate) {
    return lease(gate, LARGE);
  }

  /** Returns a lease of one request in flight below a concurrency limit with these fields. */
  public static RequestPermit lease(ConcurrencyLimiter gate, String concurrency) {
    Rule rule =
        Book.of("domain: d\ndescriptors: [{key: k, concurrency: {" + concurrency + "}}]\n")
            .rules()
            .getFirst();
    ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
    AtomicReference<@Nullable RequestPermit> lease = new AtomicReference<>();
    var _ =
        gate.enter(
            List.of(
                new ReachedLimit(
                    rule,
                    terms,
                    (ConcurrencyRule.AtService) terms.gate(),
                    new String[] {"k", "v"},
                    false,
                    true)),
            0,
            new PermitAcquisition.AcquisitionCallback() {
              @Override
              public void entered(PermitAcquisition by, @Nullable RequestPermit held) {
                lease.set(held);
              }

              @Override
              public void refused(PermitAcquisition by) {}
            });
    return Objects.requireNonNull(lease.get());
  }

  @Override
  public void refused(Rule rule, Refusal why) {
    refusals.add(why);
  }

  @Override
  public void noRoomForPermits() {
    noRoom.incrementAndGet();
  }

  @Override
  public void acquired() {
    leased.incrementAndGet();
  }

  @Override
  public void ended(PermitEnd how) {
    ends.add(how);
  }

  @Override
  public void forwarded(int releases) {
    forwarded.addAndGet(releases);
  }

  @Override
  public void received(int releases) {
    received.addAndGet(releases);
  }

  @Override
  public void exchangeFailed(String reason) {
    failedExchanges.add(reason);
  }

  @Override
  public void dropped(DroppedRelease why, long releases) {
    dropped.merge(why, releases, Long::sum);
  }

  @Override
  public void reported(StreamEnd end) {
    reported.add(end);
  }

  @Override
  public void ignored(IgnoredReport why) {
    ignored.add(why);
  }

  @Override
  public void limitChanged(Rule rule, int before, int now) {
    changes.incrementAndGet();
  }

  @Override
  public boolean limitMoved(Rule rule, int from, int now) {
    return moves.add(now);
  }

  @Override
  public void stale() {
    stale.incrementAndGet();
  }
}
