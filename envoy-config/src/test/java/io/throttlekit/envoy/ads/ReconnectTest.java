package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When streams are opened, and with which version. */
class ReconnectTest {
  private final Subscribed subscribed = new Subscribed();
  private final FakeControlPlane controlPlane = subscribed.controlPlane;

  @AfterEach
  void close() {
    subscribed.close();
  }

  @Test
  void theNextStreamBeginsWithTheVersionThatWasAcceptedLast() {
    subscribed.rejectBad();
    subscribed.subscription.start("");
    controlPlane.stream().send("4", "a");
    pass(100);
    controlPlane.stream().send("5", "bad");
    controlPlane.stream().end();
    pass(10_000);
    assertThat(controlPlane.lastRequest())
        .isEqualTo(
            DiscoveryRequest.newBuilder()
                .setNode(Subscribed.SETTINGS.node())
                .setTypeUrl(FakeControlPlane.TYPE)
                .setVersionInfo("4")
                .build());
  }

  @Test
  void whatIsReceivedAgainAfterAReconnectIsAnswered() {
    subscribed.subscription.start("");
    controlPlane.serve("4", "a");
    controlPlane.stream().send("4", "a");
    controlPlane.stream().end();
    pass(10_000);
    assertThat(controlPlane.streams()).hasSize(2);
    assertThat(controlPlane.lastRequest().getResponseNonce()).isEqualTo("1");
  }

  @Test
  void aVersionOfAnEarlierProcessIsSentFirst() {
    subscribed.subscription.start("17");
    assertThat(controlPlane.lastRequest().getVersionInfo()).isEqualTo("17");
  }

  @Test
  void aRestartedControlPlaneThatHasTheVersionWithoutResourcesIsHeard() {
    controlPlane.serve("1"); // it waits, as the version is its own
    subscribed.subscription.start("1");
    pass(4_999);
    assertThat(subscribed.received()).isEmpty();
    pass(1);
    assertThat(subscribed.last().texts()).isEmpty();
    pass(60_000);
    assertThat(controlPlane.requests()).hasSize(3); // with its acknowledgement
  }

  @Test
  void aVersionIsNotWithdrawnAfterAResponse() {
    controlPlane.serve("1", "a");
    subscribed.subscription.start("1");
    pass(60_000);
    assertThat(controlPlane.requests()).hasSize(2);
  }

  @Test
  void pausesDoubleWhileEachStreamEndsAtOnce() {
    controlPlane.react((_, stream) -> stream.fail(Status.UNAVAILABLE.withDescription("full")));
    assertThat(attempts(300)).containsExactly(0, 3, 9, 21, 45, 93, 153, 213, 273);
    assertThat(subscribed.connections()).contains("UNAVAILABLE: full");
  }

  @Test
  void responsesBeforeTheEndDoNotShortenThePauses() {
    controlPlane.react((_, stream) -> {
      stream.send("1", "a");
      stream.end();
    });
    assertThat(attempts(300)).containsExactly(0, 10, 30, 70, 130, 190, 250);
  }

  @Test
  void aStreamThatLastedEndsTheGrowth() {
    controlPlane.react((_, stream) -> stream.end());
    attempts(100);
    controlPlane.serve("1", "a");
    pass(100_000);
    assertThat(controlPlane.stream().isOpen()).isTrue();
    int streams = controlPlane.streams().size();
    controlPlane.stream().end();
    pass(9_999);
    assertThat(controlPlane.streams()).hasSize(streams);
    pass(1);
    assertThat(controlPlane.streams()).hasSize(streams + 1);
  }

  @Test
  void aStreamOfAControlPlaneWithoutResourcesEndsTheGrowthToo() {
    controlPlane.react((_, stream) -> stream.end());
    attempts(100);
    controlPlane.react((_, _) -> {});
    pass(130_000);
    assertThat(controlPlane.stream().isOpen()).isTrue();
    int streams = controlPlane.streams().size();
    controlPlane.stream().end();
    pass(3_000);
    assertThat(controlPlane.streams()).hasSize(streams + 1);
  }

  @Test
  void theReasonOfADisconnectionIsOnePrintableLine() {
    subscribed.subscription.start("");
    controlPlane.stream()
        .fail(Status.INTERNAL.withDescription("a\n\u001b[31m" + "b".repeat(9_000)));
    assertThat(subscribed.connections().getLast())
        .startsWith("INTERNAL: a  [31mb")
        .hasSizeLessThan(600);
  }

  @Test
  void afterCloseNothingIsOpenedAndTheListenerIsNotCalled() {
    subscribed.subscription.start("");
    FakeControlPlane.FakeStream stream = controlPlane.stream();
    subscribed.subscription.close();
    assertThat(stream.isOpen()).isFalse();
    pass(600_000);
    assertThat(controlPlane.streams()).hasSize(1);
    assertThat(subscribed.connections()).containsExactly("connected");
  }

  @Test
  void aResponseThatWaitsDuringACloseIsNotApplied() {
    Deque<Runnable> tasks = new ArrayDeque<>();
    try (Subscribed queued = new Subscribed(tasks::add)) {
      queued.subscription.start("");
      runAll(tasks);
      queued.controlPlane.stream().send("1", "a");
      assertThat(tasks).isNotEmpty();
      queued.subscription.close();
      runAll(tasks);
      assertThat(queued.received()).isEmpty();
    }
  }

  private static void runAll(Deque<Runnable> tasks) {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  @Test
  void closeBetweenTwoStreamsEndsTheAttempts() {
    subscribed.subscription.start("");
    controlPlane.stream().end();
    subscribed.subscription.close();
    pass(600_000);
    assertThat(controlPlane.streams()).hasSize(1);
  }

  /** Returns the seconds at which streams were opened. */
  private List<Integer> attempts(int seconds) {
    List<Integer> opened = new ArrayList<>();
    subscribed.subscription.start("");
    int known = 0;
    for (int second = 0; second <= seconds; second++) {
      if (controlPlane.streams().size() > known) {
        known = controlPlane.streams().size();
        opened.add(second);
      }
      pass(1_000);
    }
    return opened;
  }

  private void pass(long millis) {
    subscribed.pass(Duration.ofMillis(millis));
  }
}
