package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.server.Book;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is reported of one limit that replicas share. */
class FleetMemberTest {
  private final Rule rule =
      Book.of("domain: d\ndescriptors: [{key: a, concurrency: {}}]\n").rules().getFirst();
  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final List<String> events = new ArrayList<>();

  /** Whether events are reported, and not to be repeated. */
  private boolean reports = true;

  private final FleetListener listener =
      new FleetListener() {
        @Override
        public boolean fenced(Rule rule, String reason, long sinceNanos) {
          events.add("fenced " + reason);
          return reports;
        }

        @Override
        public boolean unfenced(Rule rule, long sinceNanos) {
          events.add("unfenced");
          return reports;
        }
      };

  @Test
  void aFenceNamesTheFailureOfItsOwnLimitSinceTheLastAnswer() {
    FleetMember member = member();
    FleetMember other = member();
    other.failed(new StoreException("of another limit", null));
    member.fenced();
    member.unfenced();
    member.failed(new StoreException("earlier", null));
    member.granted(grant());
    member.fenced();
    member.unfenced();
    member.failed(new StoreException("timeout", null));
    member.fenced();
    assertThat(events)
        .containsExactly("fenced ", "unfenced", "fenced ", "unfenced", "fenced timeout");
  }

  @Test
  void aFenceThatWasNotReportedIsRepeatedEachSecondUntilItIs() {
    FleetMember member = member();
    reports = false;
    member.fenced();
    run(3);
    assertThat(events).hasSize(4).containsOnly("fenced ");
    reports = true;
    run(10);
    assertThat(events).hasSize(5);
    reports = false;
    member.unfenced();
    run(2);
    reports = true;
    run(10);
    assertThat(events.subList(5, events.size())).hasSize(4).containsOnly("unfenced");
  }

  @Test
  void aFenceThatEndedBeforeItWasReportedIsNotReported() {
    FleetMember member = member();
    reports = false;
    member.fenced();
    member.unfenced();
    run(10);
    member.fenced();
    member.left();
    run(10);
    assertThat(events).hasSize(2);
  }

  @Test
  void manyFencesWithinASecondAreRepeatedOnceASecond() {
    FleetMember member = member();
    reports = false;
    for (int i = 0; i < 50; i++) {
      member.fenced();
      member.unfenced();
    }
    member.fenced();
    events.clear();
    run(5);
    assertThat(events).hasSize(5);
  }

  private FleetMember member() {
    return new FleetMember(
        new Fleet(
            "pod-1",
            _ -> {
              throw new IllegalStateException("no heartbeat is sent");
            },
            () -> 1,
            listener),
        () -> rule,
        new LimitMoves(ConcurrencyListener.NONE, 10),
        _ -> {},
        time,
        timer,
        10);
  }

  private static ShareGrant grant() {
    return new ShareGrant(
        Status.MEMBER, 10, 10, 10, 1, 1, "pod-1", 1, false, false, List.of(), List.of());
  }

  private void run(int seconds) {
    for (int i = 0; i < seconds; i++) {
      time.advance(1_000);
      timer.run();
    }
  }
}
