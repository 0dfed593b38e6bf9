package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What envoyproxy/ratelimit really answered, asked of the whole program, which is given nothing but
 * that program's environment.
 */
@Timeout(180)
class RlsCasesProcessTest {

  private static final Pattern READY = Pattern.compile("(?m)^ready grpc=127\\.0\\.0\\.1:(\\d+) ");

  /** More than any case takes, once the process has answered something. */
  private static final long MARGIN_MILLIS = 700;

  private static final TimeSource CLOCK = TimeSource.system();

  @TempDir private Path folder;

  /** Cases that one process can answer, because they share no counter. */
  private record Run(String policies, boolean stops, Set<String> keys, List<JsonObject> cases) {
    boolean takes(JsonObject testCase) {
      Set<String> shared = new HashSet<>(keys);
      shared.retainAll(RlsCases.keys(testCase));
      return policies.equals(RlsCases.policies(testCase))
          && stops == RlsCases.stops(testCase)
          && shared.isEmpty();
    }
  }

  @Test
  void withThatProgramsEnvironmentAloneEveryCaseIsAnsweredAsItDoes() throws IOException {
    checkAll(folder, List.of(), () -> {});
  }

  /**
   * Asks processes every case.
   *
   * @param environment more of it, as {@code NAME=value}
   * @param before runs before each process
   */
  static void checkAll(Path folder, List<String> environment, Runnable before) throws IOException {
    int number = 0;
    int checked = 0;
    for (Run run : runs()) {
      before.run();
      checked += check(run, environment, Files.createDirectory(folder.resolve("run" + ++number)));
    }
    assertThat(checked).isEqualTo(35);
  }

  private static List<Run> runs() {
    List<Run> runs = new ArrayList<>();
    for (JsonObject testCase : RlsCases.all()) {
      Run run = runs.stream().filter(r -> r.takes(testCase)).findFirst().orElse(null);
      if (run == null) {
        run =
            new Run(
                RlsCases.policies(testCase),
                RlsCases.stops(testCase),
                new HashSet<>(),
                new ArrayList<>());
        runs.add(run);
      }
      run.keys().addAll(RlsCases.keys(testCase));
      run.cases().add(testCase);
    }
    return runs;
  }

  private static int check(Run run, List<String> environment, Path root) throws IOException {
    Path config = Files.createDirectories(root.resolve("ratelimit/config"));
    Files.writeString(config.resolve("policies.yaml"), run.policies());
    ManagedChannel channel = null;
    try (ChildProcess process =
        ChildProcess.start(
            command(root, run.stops(), environment), Map.of(), root.resolve("log"))) {
      String port = process.awaitLog(READY, Duration.ofSeconds(60)).group(1);
      channel =
          NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(port))
              .usePlaintext()
              .build();
      var stub = RateLimitServiceGrpc.newBlockingStub(channel).withWaitForReady();
      RateLimitRequest cold = // charges nothing, and takes the time that a first call takes
          RateLimitRequest.newBuilder()
              .setDomain("nobody's")
              .addDescriptors(Ask.entries("k", "v"))
              .build();
      assertThat(stub.shouldRateLimit(cold).getOverallCode()).isEqualTo(Code.OK);
      for (JsonObject testCase : run.cases()) {
        awaitWindow();
        RlsCases.check(testCase, stub);
      }
    } finally {
      if (channel != null) {
        channel.shutdownNow();
      }
    }
    return run.cases().size();
  }

  /** Every window is a whole number of seconds, so that none ends during a case. */
  private static void awaitWindow() {
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> CLOCK.wallMillis() % 1_000 < 1_000 - MARGIN_MILLIS);
  }

  private static List<String> command(Path root, boolean stops, List<String> environment) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "/usr/bin/env",
                "-i",
                "RUNTIME_ROOT=" + root,
                "RUNTIME_SUBDIRECTORY=ratelimit",
                "GRPC_HOST=127.0.0.1",
                "HOST=127.0.0.1",
                "GRPC_PORT=0",
                "PORT=0",
                "DEBUG_PORT=0",
                "THROTTLEKIT_WARM_UP_REQUESTS=0")); // saves time, decides nothing
    command.addAll(environment);
    if (stops) {
      command.add("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT=true");
    }
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xmx128m",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            "io.throttlekit.service.Main",
            "serve"));
    return command;
  }
}
