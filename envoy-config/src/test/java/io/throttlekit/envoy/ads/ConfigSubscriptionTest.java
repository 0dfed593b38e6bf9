package io.throttlekit.envoy.ads;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.Code;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How responses are answered. */
class ConfigSubscriptionTest {
  private final Subscribed subscribed = Subscribed.started();
  private final FakeControlPlane controlPlane = subscribed.controlPlane;

  @AfterEach
  void close() {
    subscribed.close();
  }

  @Test
  void subscribesToAllResourcesOfTheTypeUnderItsNode() {
    assertThat(controlPlane.requests())
        .containsExactly(
            DiscoveryRequest.newBuilder()
                .setNode(Subscribed.SETTINGS.node())
                .setTypeUrl(FakeControlPlane.TYPE)
                .build());
    assertThat(subscribed.connections()).containsExactly("connected");
  }

  @Test
  void acknowledgesVersionAndNonce() {
    controlPlane.stream().send("7", "a", "b");
    assertThat(subscribed.last().version()).isEqualTo("7");
    assertThat(subscribed.last().texts()).containsExactly("a", "b");
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("7", 1));
  }

  @Test
  void rejectsWithTheVersionThatItReceived() {
    subscribed.rejectBad();
    controlPlane.stream().send("7", "a");
    pass(100);
    controlPlane.stream().send("8", "bad d, bad e");
    DiscoveryRequest rejection = controlPlane.lastRequest();
    assertThat(rejection.getErrorDetail().getCode()).isEqualTo(Code.INVALID_ARGUMENT_VALUE);
    assertThat(rejection.getErrorDetail().getMessage()).isEqualTo("bad d, bad e");
    assertThat(rejection.toBuilder().clearErrorDetail().build()).isEqualTo(acknowledgement("8", 2));
  }

  /** Else its answers, which repeat versions and nonces of any length, would fill the memory. */
  @Test
  void readsNoFurtherWhileTheControlPlaneDoesNotRead() {
    try (Subscribed unread = new Subscribed()) {
      unread.controlPlane.doNotRead();
      unread.subscription.start("");
      for (int i = 1; i <= 10; i++) {
        unread.controlPlane.stream().send("v" + i, "a" + i);
        unread.pass(Duration.ofMillis(500));
      }
      assertThat(unread.received()).hasSize(1);
      unread.controlPlane.stream().read(100);
      unread.pass(Duration.ofSeconds(1));
      assertThat(unread.received()).hasSize(10);
    }
  }

  @Test
  void leavesAControlPlaneThatDoesNotRead() {
    try (Subscribed unread = new Subscribed()) {
      unread.controlPlane.doNotRead();
      unread.subscription.start("");
      unread.controlPlane.stream().send("1", "a");
      unread.pass(Duration.ofSeconds(11));
      assertThat(unread.connections())
          .containsExactly(
              "connected", "the connection is lost, or the control plane does not read");
      unread.pass(Duration.ofSeconds(10));
      assertThat(unread.controlPlane.streams()).hasSize(2);
    }
  }

  @Test
  void truncatesALongRejection() {
    subscribed.rejectBad();
    controlPlane.stream().send("1", "bad" + "x".repeat(9_997));
    assertThat(controlPlane.lastRequest().getErrorDetail().getMessage())
        .startsWith("badxxx")
        .endsWith("x… (5904 characters more)");
  }

  @Test
  void goControlPlaneIsSentOneRejectionOfAVersion() {
    subscribed.rejectBad();
    controlPlane.serve("1", "a");
    pass(1_000);
    controlPlane.stream().send("1", "a"); // so that a request waits
    pass(1_000);
    controlPlane.serve("2", "bad");
    pass(600_000);
    assertThat(controlPlane.rejections()).hasSize(1);
    controlPlane.serve("3", "b"); // a correction needs no pause
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("3", 3));
  }

  @Test
  void aControlPlaneThatRepeatsWhatIsRejectedIsAnsweredWithGrowingPauses() {
    subscribed.rejectBad();
    List<Long> seconds = new ArrayList<>();
    controlPlane.react((request, stream) -> {
      seconds.add(Math.round(subscribed.time.monotonicNanos() / 1e9));
      stream.send("1", "bad");
    });
    controlPlane.stream().send("1", "bad");
    pass(59_000);
    assertThat(seconds).containsExactly(0L, 1L, 3L, 7L, 15L, 30L, 45L);
  }

  @Test
  void newVersionsDoNotEscapeThePauses() {
    subscribed.rejectBad();
    controlPlane.react((request, stream) ->
        stream.send("v" + controlPlane.requests().size(), "bad" + controlPlane.requests().size()));
    controlPlane.stream().send("v0", "bad0");
    pass(59_000);
    assertThat(controlPlane.rejections()).hasSize(7);
  }

  @Test
  void aRejectionLongAfterTheLastIsSentAtOnce() {
    subscribed.rejectBad();
    for (int i = 1; i <= 5; i++) {
      controlPlane.stream().send("v" + i, "bad");
      assertThat(controlPlane.rejections()).hasSize(i);
      pass(1_200);
    }
  }

  @Test
  void thePausesAreShortAgainAfterAQuietTime() {
    subscribed.rejectBad();
    controlPlane.react((_, stream) -> {
      if (controlPlane.rejections().size() < 4) { // the last is sent after 4 s
        stream.send("1", "bad");
      }
    });
    controlPlane.stream().send("1", "bad");
    pass(20_000);
    controlPlane.stream().send("2", "bad");
    assertThat(controlPlane.rejections()).hasSize(5);
    pass(500);
    controlPlane.stream().send("3", "bad");
    pass(1_000);
    assertThat(controlPlane.rejections()).hasSize(6);
  }

  @Test
  void onlyTheNewestOfSeveralRejectedResponsesIsAnswered() {
    subscribed.rejectBad();
    for (int i = 1; i <= 11; i++) { // one at once, the others within the pause
      controlPlane.stream().send("v" + i, "bad");
    }
    pass(1_099);
    assertThat(controlPlane.rejections()).hasSize(1);
    pass(100);
    assertThat(controlPlane.rejections()).hasSize(2);
    assertThat(controlPlane.lastRequest().getResponseNonce()).isEqualTo("11");
    assertThat(controlPlane.lastRequest().getVersionInfo()).isEqualTo("v11");
  }

  @Test
  void aCorrectionWithinAPauseIsAppliedAndTheRejectionIsDropped() {
    subscribed.rejectBad();
    controlPlane.stream().send("1", "bad");
    pass(200);
    controlPlane.stream().send("2", "bad");
    pass(200);
    controlPlane.stream().send("3", "good");
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("3", 3));
    pass(60_000);
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("3", 3));
    assertThat(controlPlane.rejections()).hasSize(1);
  }

  @Test
  void aDuplicateIsAnsweredAsTheListenerDecidesThen() {
    subscribed.rejectBad();
    controlPlane.stream().send("1", "bad");
    assertThat(controlPlane.rejections()).hasSize(1);
    subscribed.listen(_ -> Optional.empty());
    pass(100);
    controlPlane.stream().send("1", "bad");
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("1", 2));
  }

  @Test
  void otherResourcesUnderTheSameVersionAreApplied() {
    controlPlane.stream().send("1", "a");
    pass(100);
    controlPlane.stream().send("1", "a", "a");
    assertThat(subscribed.last().texts()).containsExactly("a", "a");
  }

  @Test
  void anyTextIsAVersion() {
    for (String version : List.of("17", "", "1", "17", "\u0000ä")) {
      controlPlane.stream().send(version);
      assertThat(subscribed.last().version()).isEqualTo(version);
      assertThat(subscribed.last().texts()).isEmpty();
      assertThat(controlPlane.lastRequest().getVersionInfo()).isEqualTo(version);
      pass(100);
    }
    assertThat(controlPlane.rejections()).isEmpty();
  }

  @Test
  void aResponseOfAnotherTypeIsNotAnswered() {
    controlPlane.stream()
        .send(DiscoveryResponse.newBuilder().setTypeUrl("type.googleapis.com/other").build());
    pass(100);
    assertThat(controlPlane.requests()).hasSize(1);
    assertThat(subscribed.received()).isEmpty();
    controlPlane.stream().send("1", "a");
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("1", 2));
  }

  @Test
  void aBrokenResourceIsLeftToTheListener() {
    subscribed.rejectBad();
    Any broken =
        Any.newBuilder()
            .setTypeUrl(FakeControlPlane.TYPE)
            .setValue(ByteString.copyFrom(new byte[] {10, 99}))
            .build();
    controlPlane.stream()
        .send(
            DiscoveryResponse.newBuilder()
                .setTypeUrl(FakeControlPlane.TYPE)
                .addResources(FakeControlPlane.resource("a"))
                .addResources(broken)
                .build());
    assertThat(subscribed.last().texts()).hasSize(2).first().isEqualTo("a");
    assertThat(controlPlane.rejections()).hasSize(1);
  }

  @Test
  void aFloodIsReadNoFasterThanTenTimesASecond() {
    for (int i = 0; i < 1_000; i++) {
      controlPlane.stream().send("v" + i);
    }
    pass(1_000);
    assertThat(subscribed.received()).hasSize(11);
  }

  @Test
  void aSlowListenerHasTwoThirdsOfTheTimeForOtherThings() {
    subscribed.listen(_ -> {
      subscribed.time.take(Duration.ofMillis(500));
      return Optional.empty();
    });
    for (int i = 0; i < 100; i++) {
      controlPlane.stream().send("v" + i);
    }
    pass(9_500);
    assertThat(subscribed.received()).hasSize(7);
  }

  @Test
  void aDefectOfTheListenerRejectsOnceAndIsNotRemembered() {
    subscribed.listen(_ -> {
      throw new IllegalStateException("defect");
    });
    controlPlane.stream().send("1", "a");
    assertThat(controlPlane.lastRequest().getErrorDetail().getMessage())
        .isEqualTo("internal error");
    subscribed.listen(_ -> Optional.empty());
    pass(100);
    controlPlane.stream().send("1", "a");
    assertThat(controlPlane.lastRequest()).isEqualTo(acknowledgement("1", 2));
  }

  private void pass(long millis) {
    subscribed.pass(Duration.ofMillis(millis));
  }

  private static DiscoveryRequest acknowledgement(String version, int nonce) {
    return DiscoveryRequest.newBuilder()
        .setTypeUrl(FakeControlPlane.TYPE)
        .setVersionInfo(version)
        .setResponseNonce(Integer.toString(nonce))
        .build();
  }
}
