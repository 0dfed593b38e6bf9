package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeartbeatScheduleTest {
  private final VirtualTime time = new VirtualTime();
  private final List<Long> sent = new ArrayList<>();
  private final HeartbeatSchedule schedule =
      new HeartbeatSchedule(Membership.of("k", "a"), time, time, this::wake);
  private final LeasedShare share =
      new LeasedShare(OnOutage.FAIL_CLOSED, time, () -> {}, () -> {}, () -> {});

  @Test
  void aShiftOfTheLoadSendsFiveHeartbeatsAtTheLeastInterval() {
    schedule.start();
    time.run(1_500);
    sent.clear();
    schedule.severalSoon();
    time.run(3_000);
    assertThat(gaps()).startsWith(100L, 100L, 100L, 100L, 1_000L, 1_000L);
  }

  @Test
  void aLoadThatShiftsAllTheTimeSendsFiveHeartbeatsInFiveIntervals() {
    schedule.start();
    time.run(1_500);
    sent.clear();
    for (int i = 0; i < 100; i++) {
      schedule.severalSoon();
      time.run(100);
    }
    assertThat(sent).as("in 10 s: two rows of five, and one each second without them").hasSize(18);
  }

  @Test
  void aShiftInALargeFleetSendsHeartbeats3MillisecondsOfEachNodeApart() {
    schedule.start();
    time.run(1);
    schedule.answered(grant(100, false), false);
    time.run(1_500);
    sent.clear();
    schedule.severalSoon();
    time.run(3_000);
    assertThat(gaps()).startsWith(300L, 300L, 300L, 300L, 1_000L);
  }

  @ParameterizedTest
  @CsvSource({"1, 100", "33, 100", "100, 300", "334, 1000", "1000, 1000"})
  void frequentHeartbeatsOfAllNodesAre3MillisecondsApart(int nodes, long millis) {
    schedule.start();
    time.run(1);
    for (int i = 0; i < 10; i++) {
      schedule.answered(grant(nodes, true), false);
      time.run(millis);
    }
    assertThat(gaps()).containsOnly(millis).hasSizeGreaterThanOrEqualTo(9);
  }

  @Test
  void whatIsToBeReportedIsSentAtTheLeastIntervalInALargeFleetToo() {
    schedule.start();
    time.run(1);
    schedule.answered(grant(1_000, true), true);
    time.run(150);
    assertThat(gaps()).containsExactly(100L);
  }

  @Test
  void anAnswerThatCallsForNothingLeavesTheInterval() {
    schedule.start();
    for (int i = 0; i < 50; i++) {
      time.run(100);
      schedule.answered(grant(3, false), false);
    }
    assertThat(gaps()).containsOnly(1_000L).hasSize(4);
  }

  private void wake() {
    long now = time.monotonicNanos();
    if (schedule.isDue(now)) {
      sent.add(now / 1_000_000);
      schedule.sent(now);
    }
    schedule.next(share, now);
  }

  private List<Long> gaps() {
    List<Long> gaps = new ArrayList<>();
    for (int i = 1; i < sent.size(); i++) {
      gaps.add(sent.get(i) - sent.get(i - 1));
    }
    return gaps;
  }

  private static ShareGrant grant(int nodes, boolean frequent) {
    return new ShareGrant(
        Status.MEMBER, 1, 10, 10, nodes, 1, "b", 0, frequent, false, List.of(), List.of());
  }
}
