package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.gson.JsonObject;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.TimeSource;
import io.throttlekit.service.fleet.ServiceJvm;
import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.envoy.ChildProcess;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares recorded answers of envoyproxy/ratelimit with those of the whole program, which gets
 * only the environment variables of envoyproxy/ratelimit.
 */
@Tag("process")
class RlsCasesProcessTest {

  private static final Pattern READY =
      Pattern.compile("(?m)^ready grpc=127\\.0\\.0\\.1:(\\d+) http=(\\S+) ");

  /** Longer than any case takes on most machines, once the process has answered a request. */
  private static final long MARGIN_MILLIS = 800;

  /** Of a run in which a window ended during a case, as on a busy machine. */
  private static final int MAX_REPETITIONS = 50;

  private static final TimeSource CLOCK = TimeSource.system();

  @TempDir private Path folder;

  /** Cases that one process can answer because they share no counter. */
  record Run(String policies, boolean stops, Set<String> keys, List<JsonObject> cases) {
    boolean takes(JsonObject testCase) {
      Set<String> shared = new HashSet<>(keys);
      shared.retainAll(RlsCases.keys(testCase));
      return policies.equals(RlsCases.policies(testCase))
          && stops == RlsCases.stops(testCase)
          && shared.isEmpty();
    }
  }

  /** {@code RlsCasesTest} compares every case, in this JVM. */
  @Test
  void withThePeersEnvironmentCasesAreAnsweredLikeThePeer() throws IOException {
    List<Run> most = List.of(largest(false), largest(true));
    assertThat(check(most, folder, List.of(), null)).isGreaterThan(10);
  }

  @Test
  @Tag("thorough")
  void withThePeersEnvironmentEveryCaseIsAnsweredLikeThePeer() throws IOException {
    assertThat(check(runs(), folder, List.of(), null)).isEqualTo(43);
  }

  /**
   * Runs cases against processes over gRPC, and over {@code /json} where counters can be deleted.
   *
   * @return how many cases
   * @param environment further variables, as {@code NAME=value}
   * @param forget empties the shared store; null where counters are in the process
   */
  static int check(List<Run> runs, Path folder, List<String> environment, @Nullable Runnable forget)
      throws IOException {
    int number = 0;
    int checked = 0;
    for (Run run : runs) {
      Path root = Files.createDirectory(folder.resolve("run" + ++number));
      check(run, environment, root, forget);
      checked += run.cases().size();
    }
    return checked;
  }

  /** Returns all cases in as few runs as possible. */
  static List<Run> runs() {
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

  /** Returns the run with the most cases, of those with a value of the flag that stops charging. */
  static Run largest(boolean stops) {
    return runs().stream()
        .filter(run -> run.stops() == stops)
        .max(Comparator.comparingInt(run -> run.cases().size()))
        .orElseThrow();
  }

  /** A case failed while a window ended: answers of two windows prove nothing. */
  private static final class WindowEndedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    WindowEndedException(Throwable failure) {
      super(failure);
    }
  }

  /** Starts a server without counts, checks a run, and stops the server. */
  interface Attempt {
    /**
     * Makes an attempt.
     *
     * @param number from 0
     */
    void make(int number) throws IOException;
  }

  /** Repeats an attempt during which a window ended. */
  static void untilNoWindowEnds(Attempt attempt) throws IOException {
    for (int number = 0; number < MAX_REPETITIONS; number++) {
      try {
        attempt.make(number);
        return;
      } catch (WindowEndedException repeated) {
        System.err.println("a window ended during a case: " + repeated.getMessage());
      }
    }
    throw new AssertionError("a window ended in each of " + MAX_REPETITIONS + " attempts");
  }

  private static void check(Run run, List<String> environment, Path root, @Nullable Runnable forget)
      throws IOException {
    untilNoWindowEnds(number ->
        attempt(
            run, environment, Files.createDirectories(root.resolve("attempt" + number)), forget));
  }

  private static void attempt(
      Run run, List<String> environment, Path root, @Nullable Runnable forget) throws IOException {
    if (forget != null) {
      forget.run();
    }
    Path config = Files.createDirectories(root.resolve("ratelimit/config"));
    Files.writeString(config.resolve("policies.yaml"), run.policies());
    ManagedChannel channel = null;
    try (ChildProcess process =
        ChildProcess.start(
            command(root, run.stops(), environment), Map.of(), root.resolve("log"))) {
      MatchResult ready = process.awaitLog(READY, AwaitLimit.LIMIT);
      channel =
          NettyChannelBuilder.forAddress("127.0.0.1", Integer.parseInt(ready.group(1)))
              .usePlaintext()
              .build();
      var stub = RateLimitServiceGrpc.newBlockingStub(channel).withWaitForReady();
      RateLimitRequest cold = // charges nothing, and takes the time that a first call takes
          RateLimitRequest.newBuilder()
              .setDomain("nobody's")
              .addDescriptors(TestRequests.entries("k", "v"))
              .build();
      assertThat(stub.shouldRateLimit(cold).getOverallCode()).isEqualTo(Code.OK);
      check(run, stub::shouldRateLimit);
      if (forget != null) {
        forget.run();
        try (HttpClient client = HttpClient.newHttpClient()) {
          check(run, RlsCases.json(client, ready.group(2)));
        }
      }
    } finally {
      if (channel != null) {
        channel.shutdownNow();
      }
    }
  }

  /** Sends a run's cases to a server, one after the other. */
  static void check(Run run, Function<RateLimitRequest, RateLimitResponse> server) {
    for (JsonObject testCase : run.cases()) {
      awaitWindow();
      long second = CLOCK.wallMillis() / 1_000;
      try {
        RlsCases.check(testCase, server);
      } catch (AssertionError e) {
        if (CLOCK.wallMillis() / 1_000 > second) {
          throw new WindowEndedException(e);
        }
        throw e;
      }
    }
  }

  /**
   * Waits until enough of a second is left for a case: windows are whole seconds, so that none ends
   * during it.
   */
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
                "THROTTLEKIT_WARM_UP_REQUESTS=0")); // saves time only
    command.addAll(environment);
    if (stops) {
      command.add("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT=true");
    }
    command.addAll(ServiceJvm.command());
    command.add("serve");
    return command;
  }
}
