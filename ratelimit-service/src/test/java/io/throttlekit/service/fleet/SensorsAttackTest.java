package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.throttlekit.service.server.TestRequests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Decisions under attack by clients of the sensor port, seen from outside. */
@Tag("alone")
@Tag("process")
class SensorsAttackTest {
  private static final int ROUNDS = Boolean.getBoolean("throttlekit.thorough") ? 5 : 3;
  private static final Duration ROUND = Duration.ofMillis(500);

  private static final int UNTIL_WARM = 1_000;

  /** On a busy machine the attackers' own processor time slows decisions five times. */
  private static final int TIMES_FEWER = 20;

  /** A stream's window of 256 KiB holds 3,700. */
  private static final long MESSAGES = 10_000;

  private static final String POLICY =
      """
      domain: d
      descriptors:
        - {key: k, rate_limit: {unit: day, requests_per_unit: 100000000}}
        - {key: c, concurrency: {gate: envoy, cluster: up}}
      """;

  @TempDir private Path folder;

  /** Without flow control: 500 MB in 5 s, no decision for 16 s, and 45 MB of log. */
  @Test
  void clientsThatToggleTheirSubscriptionsDoNotSlowDecisions() throws Exception {
    Path policy = Files.writeString(folder.resolve("policy.yaml"), POLICY);
    try (ServiceProcess service =
        ServiceProcess.start(policy, Map.of(), 0, folder.resolve("log"))) {
      ManagedChannel decisions = channel(service.port());
      List<ManagedChannel> hostile = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        hostile.add(channel(service.sensorsPort()));
      }
      for (int warm = 0; warm < UNTIL_WARM; ) {
        warm += decided(decisions);
      }
      // In pairs: what else the machine does slows the two measurements of a round alike.
      long quiet = 0;
      long attacked = 0;
      AtomicLong answers = new AtomicLong();
      AtomicLong messages = new AtomicLong();
      long attackedNanos = 0;
      for (int round = 0; round < ROUNDS; round++) {
        quiet += decided(decisions);
        long begun = System.nanoTime();
        List<Toggling> streams = new ArrayList<>();
        for (ManagedChannel channel : hostile) {
          streams.add(Toggling.begin(channel, "node-" + streams.size(), messages, answers));
        }
        attacked += decided(decisions);
        streams.forEach(Toggling::end);
        attackedNanos += System.nanoTime() - begun;
      }
      double seconds = attackedNanos / 1e9;
      String figures =
          "%d decisions, %d under attack, in %d rounds; %d messages and %d answers in %.1f s"
              .formatted(quiet, attacked, ROUNDS, messages.get(), answers.get(), seconds);
      System.err.println(figures);
      assertThat(attacked).as(figures).isGreaterThan(quiet / TIMES_FEWER);
      assertThat(messages.get() / hostile.size() / ROUNDS)
          .as("messages that a stream took: %s", figures)
          .isLessThan(MESSAGES);
      assertThat(answers.get() / seconds / hostile.size())
          .as("answers to a client in a second: %s", figures)
          .isLessThan(60);
      assertThat(Files.size(folder.resolve("log"))).as("bytes of log").isLessThan(100_000);
      hostile.forEach(ManagedChannel::shutdownNow);
      decisions.shutdownNow();
    }
  }

  private static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  /** Returns how many decisions, one after the other, a round has time for. */
  private static int decided(ManagedChannel channel) {
    var stub = RateLimitServiceGrpc.newBlockingStub(channel);
    int decided = 0;
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < ROUND.toNanos()) {
      assertThat(
              stub.shouldRateLimit(TestRequests.to("d", TestRequests.entries("k", "v")))
                  .getOverallCode())
          .isEqualTo(Code.OK);
      decided++;
    }
    return decided;
  }

  /** Subscribes and unsubscribes as fast as the connection takes it. */
  private static final class Toggling
      implements ClientResponseObserver<DiscoveryRequest, DiscoveryResponse> {
    private final DiscoveryRequest wanted;
    private final DiscoveryRequest unwanted;
    private final AtomicLong messages;
    private final AtomicLong answers;
    private @Nullable ClientCallStreamObserver<DiscoveryRequest> call;
    private volatile boolean over;

    private Toggling(String node, AtomicLong messages, AtomicLong answers) {
      this.messages = messages;
      this.answers = answers;
      this.unwanted =
          DiscoveryRequest.newBuilder()
              .setNode(Node.newBuilder().setId(node))
              .setTypeUrl("type.googleapis.com/envoy.service.runtime.v3.Runtime")
              .build();
      this.wanted = unwanted.toBuilder().addResourceNames("concurrency_limits").build();
    }

    static Toggling begin(
        ManagedChannel channel, String node, AtomicLong messages, AtomicLong answers) {
      Toggling stream = new Toggling(node, messages, answers);
      var _ = AggregatedDiscoveryServiceGrpc.newStub(channel).streamAggregatedResources(stream);
      return stream;
    }

    void end() {
      over = true;
      Objects.requireNonNull(call).cancel("over", null);
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<DiscoveryRequest> stream) {
      call = stream;
      stream.setOnReadyHandler(() -> {
        while (!over && stream.isReady()) {
          stream.onNext(wanted);
          stream.onNext(unwanted);
          messages.addAndGet(2);
        }
      });
    }

    @Override
    public void onNext(DiscoveryResponse answer) {
      answers.incrementAndGet();
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }
}
