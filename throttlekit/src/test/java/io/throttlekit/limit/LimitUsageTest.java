package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.completed;
import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LimitUsageTest {
  private static final int REQUESTS = 60;

  /** Returns the usage after two windows of 60 requests, all with the same number in flight. */
  static LimitUsage usage(int inFlight, int refusedFirst, int refusedThen) {
    LimitUsage usage = new LimitUsage();
    add(usage, inFlight, inFlight, refusedFirst);
    add(usage, inFlight, inFlight, refusedThen);
    return usage;
  }

  /** Adds a window of 60 requests. */
  static void add(LimitUsage usage, double applied, int inFlight, int refused) {
    add(usage, applied, inFlight, refused, REQUESTS);
  }

  /** Adds a window of 60 requests without refusals, of which one began with more in flight. */
  static void addMoment(LimitUsage usage, int inFlight, int most) {
    SampleWindow window = new SampleWindow(WindowSettings.defaults());
    for (int i = 1; i < REQUESTS; i++) {
      window.add(completed(i, 20, inFlight));
    }
    window.add(completed(REQUESTS, 20, most));
    usage.add(window, most);
  }

  /** Returns the usage after a window of too few requests to judge by. */
  static LimitUsage few(int inFlight, int refused) {
    LimitUsage usage = new LimitUsage();
    add(usage, inFlight, inFlight, refused, LimitUsage.MIN_REQUESTS - 1);
    return usage;
  }

  private static void add(
      LimitUsage usage, double applied, int inFlight, int refused, int requests) {
    SampleWindow window = new SampleWindow(WindowSettings.defaults());
    for (int i = 0; i < requests; i++) {
      window.add(completed(i, 20, inFlight));
    }
    window.refused(ms(0), refused);
    usage.add(window, applied);
  }

  @Test
  void aLimitIsFullIfItRefusesInTwoWindowsOrMany() {
    assertThat(usage(10, 0, 0).full()).isFalse();
    assertThat(usage(10, 0, 1).full()).isFalse();
    assertThat(usage(10, 1, 1).full()).isTrue();
    assertThat(usage(10, 0, 10).full()).isTrue();
    assertThat(usage(10, 1, 0).full()).isFalse();
    LimitUsage few = usage(10, 0, 0); // the queue of a slow backend is refused too late
    add(few, 10, 10, 0, LimitUsage.MIN_REQUESTS - 1);
    assertThat(few.full()).isTrue();
  }

  @Test
  void aLimitIsCrowdedIfItRefusesManyOfEnoughRequests() {
    assertThat(usage(10, 0, 10).crowded()).isTrue();
    assertThat(usage(10, 10, 1).crowded()).isFalse();
    assertThat(few(10, 10).crowded()).isFalse();
  }

  @Test
  void unusedSlotsCountOnlyWhileRequestsAreRefused() {
    LimitUsage usage = usage(20, 0, 0);
    add(usage, 40, 20, 0);
    add(usage, 40, 20, 10); // began before the overload
    assertThat(usage.unused()).isZero();
    add(usage, 40, 20, 10);
    assertThat(usage.unused()).isEqualTo(20 / 4.0 - 1);
    add(usage, 40, 20, 0);
    assertThat(usage.unused()).isEqualTo(0.9 * 20 / 4 - 1, within(1e-9));
  }

  @Test
  void aPeakIsForgottenInAnOverloadAndFadesElse() {
    LimitUsage usage = usage(20, 0, 0);
    add(usage, 20, 10, 0);
    assertThat(usage.peak()).isEqualTo(0.99 * 20);
    add(usage, 20, 20, 1);
    assertThat(usage.peak()).isEqualTo(20);
    add(usage, 20, 20, 1);
    assertThat(usage.peak()).isZero();
  }

  @Test
  void aPeakAmongFewRequestsDoesNotCount() {
    LimitUsage usage = usage(40, 0, 0);
    add(usage, 40, 4, 0, LimitUsage.MIN_REQUESTS - 1);
    assertThat(usage.peak()).isZero();
  }
}
