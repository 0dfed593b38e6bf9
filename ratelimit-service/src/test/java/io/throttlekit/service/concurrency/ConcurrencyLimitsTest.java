package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.release.IdSigner;
import io.throttlekit.service.concurrency.release.ProcessKeys;
import io.throttlekit.service.server.Book;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ConcurrencyLimitsTest {
  private static final long IDLE_MILLIS = ConcurrencyLimits.IDLE_TIME.toMillis();

  private final ManualTime time = new ManualTime(0);
  private final ConcurrencyLimits limits =
      new ConcurrencyLimits(
          time,
          (_, _) -> {},
          ConcurrencyListener.NONE,
          null,
          new OrphanedReleases(
              0,
              new ProcessKeys("a-b", IdSigner.create(), time, (_, _) -> {}, _ -> {}),
              time,
              (_, _) -> {},
              ConcurrencyListener.NONE),
          10);
  private final Rule rule =
      Book.of("domain: d\ndescriptors: [{key: k, concurrency: {min: 1, max: 9}}]\n")
          .rules()
          .getFirst();

  @Test
  void anIdleLimitIsEvictedAfterADayDespiteScrapes() {
    PinnedLimit first = pinned("a");
    first.unpin();
    time.advance(IDLE_MILLIS - 1);
    assertThat(known()).isEqualTo(1);
    PinnedLimit again = pinned("a");
    assertThat(again).isSameAs(first);
    again.unpin();
    for (int hour = 0; hour < 23; hour++) {
      time.advance(IDLE_MILLIS / 24);
      assertThat(known()).as("after %d hours", hour + 1).isEqualTo(1);
    }
    time.advance(IDLE_MILLIS / 24);
    assertThat(known()).isZero();
    assertThat(pinned("a")).isNotSameAs(first);
  }

  @Test
  void aLimitWithARequestInFlightIsNeverEvicted() {
    PinnedLimit held = pinned("a");
    time.advance(3 * IDLE_MILLIS);
    assertThat(known()).isEqualTo(1);
    assertThat(pinned("a")).isSameAs(held);
    held.unpin();
    held.unpin();
    time.advance(IDLE_MILLIS - 1);
    PinnedLimit after = pinned("a");
    assertThat(after).isSameAs(held);
    after.unpin();
    time.advance(IDLE_MILLIS);
    assertThat(known()).isZero();
  }

  private PinnedLimit pinned(String value) {
    ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
    return limits.pin(rule, terms, new String[] {"k", value});
  }

  private int known() {
    AtomicInteger count = new AtomicInteger();
    limits.forEach((_, _) -> count.incrementAndGet());
    return count.get();
  }
}
