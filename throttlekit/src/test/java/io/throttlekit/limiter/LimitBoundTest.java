package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.LimitRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LimitBoundTest {
  private final AtomicInteger requests = new AtomicInteger(8);
  private final List<String> events = new ArrayList<>();
  private @Nullable Runnable onRead;
  private final LimitBound bound =
      new LimitBound() {
        @Override
        public int requests() {
          int read = requests.get();
          Runnable once = onRead;
          onRead = null;
          if (once != null) {
            once.run();
          }
          return read;
        }

        @Override
        public void released(int inFlight) {
          events.add("released, " + inFlight + " in flight");
        }

        @Override
        public void refused() {
          events.add("refused");
        }
      };
  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(new AimdLimit(new LimitRange(10, 10, 10), AimdLimit.Settings.defaults()))
          .bound(bound)
          .queueing(Queueing.of(1, 1))
          .build();

  @Test
  void noMoreIsAdmittedThanTheBoundOrTheLimitAllows() {
    assertThat(admitted()).isEqualTo(8);
    requests.set(20);
    assertThat(admitted()).as("up to the limit").isEqualTo(2);
    assertThat(limiter.figures().limit()).isEqualTo(10);
  }

  @Test
  void theBoundIsNotifiedOfReleasesAndRefusals() {
    Permit first = Objects.requireNonNull(limiter.tryAcquire());
    requests.set(1);
    assertThat(limiter.tryAcquire()).isNull();
    first.release();
    assertThat(events).containsExactly("refused", "released, 0 in flight");
  }

  /**
   * A thread has read the higher bound and not yet counted its request, when the bound falls and
   * the requests in flight are read.
   */
  @Test
  void noRequestIsAdmittedByAnEarlierBoundAfterItFell() {
    for (int i = 0; i < 4; i++) {
      assertThat(limiter.tryAcquire()).isNotNull();
    }
    AtomicInteger reported = new AtomicInteger();
    onRead =
        () -> {
          requests.set(4);
          limiter.boundLowered();
          reported.set(limiter.figures().inFlight());
        };
    assertThat(limiter.tryAcquire()).isNull();
    assertThat(reported).hasValue(4);
    assertThat(limiter.figures().inFlight()).isEqualTo(4);
  }

  @Test
  void requestsThatWaitAreAdmittedWhenTheBoundRises() {
    requests.set(2);
    admitted();
    List<Permit> waited = new ArrayList<>();
    limiter.acquire(
        new PermitRequest(0, null, Long.MAX_VALUE),
        new PermitCallback() {
          @Override
          public void admitted(Permit permit) {
            waited.add(permit);
          }

          @Override
          public void refused(Refusal why) {
            throw new AssertionError(why);
          }
        });
    assertThat(waited).isEmpty();
    requests.set(3);
    limiter.boundRaised();
    assertThat(waited).hasSize(1);
  }

  @Test
  void startingVersionsChangesNoCount() {
    RequestCounts counts = new RequestCounts(() -> {});
    counts.add(RequestCounts.MAX * RequestCounts.ONE_IN_FLIGHT);
    counts.add(RequestCounts.MAX);
    for (int i = 0; i < 1 << 17; i++) {
      counts.startVersion();
    }
    assertThat(RequestCounts.inFlight(counts.get())).isEqualTo(RequestCounts.MAX);
    assertThat(RequestCounts.queued(counts.get())).isEqualTo(RequestCounts.MAX);
    counts.add(-RequestCounts.MAX * RequestCounts.ONE_IN_FLIGHT);
    counts.add(-RequestCounts.MAX);
    assertThat(RequestCounts.isUsed(counts.get())).isFalse();
  }

  private int admitted() {
    int admitted = 0;
    while (limiter.tryAcquire() != null) {
      admitted++;
    }
    return admitted;
  }
}
