package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.throttlekit.service.config.CompatibilityConfig;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Compares recorded answers of envoyproxy/ratelimit with those of this service over gRPC. */
class RlsCasesTest {

  @TestFactory
  Stream<DynamicTest> answersLikeEnvoyproxyRatelimit() {
    return RlsCases.all().stream()
        .map(c ->
            DynamicTest.dynamicTest(
                RlsCases.text(c, "id") + ' ' + RlsCases.text(c, "title"), () -> run(c)));
  }

  @Test
  void hasAllRecordedCases() {
    assertThat(RlsCases.all()).hasSize(43);
  }

  private static void run(JsonObject testCase) {
    // Its flag against charging refused requests is this service's default.
    CompatibilityConfig compatibility = RlsCases.stops(testCase) ? Setup.NATIVE : Setup.COUNTING;
    Setup setup = new Setup(RlsCases.policies(testCase), compatibility, Setup.BARE);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    try {
      RlsCases.check(testCase, RateLimitServiceGrpc.newBlockingStub(channel));
    } finally {
      channel.shutdownNow();
      server.stop();
    }
  }
}
