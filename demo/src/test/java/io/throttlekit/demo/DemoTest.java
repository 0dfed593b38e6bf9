package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

@RealEnvoy
class DemoTest {
  /** A longer filter timeout, because other tests use the processors. */
  private static final String LONG_TIMEOUT = "60s";

  private static final Pattern COMMAND =
      Pattern.compile("curl -i -H 'x-user: (\\w+)' (http://127\\.0\\.0\\.1:\\d+/api)");

  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final List<String> progress = new CopyOnWriteArrayList<>();

  @Test
  void runsARealEnvoyThatAppliesEveryRuleAndEndsItsProcesses() throws Exception {
    Summary summary = runUntilLimited(new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"));
    assertThat(summary.through()).isEqualTo("envoy");
    assertCounted(summary);
    assertThat(summary.json())
        .startsWith("{\"through\":\"envoy\",\"allowed\":")
        .contains("\"seed\":7");
    assertThat(progress).anyMatch(line -> line.startsWith("starting Envoy 1.40.0"));
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  @Test
  void printsThePolicyAndACommandThatIsLimitedAfterThreeCalls() throws Exception {
    DemoEnvironment environment =
        new DemoEnvironment(
            _ -> new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"), progress::add);
    Demo demo = new Demo(environment, LONG_TIMEOUT);
    Future<?> running;
    try (ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor();
        PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      running = thread.submit(() -> demo.run(0, 7, out, false));
      await().until(() -> commandToTry().find());
      List<HttpResponse<String>> answers = callUntilLimited(commandToTry());
      environment.stop();
      assertThat(answers).as("two windows, if a minute ended").hasSizeBetween(4, 7);
      assertThat(answers.getLast().statusCode()).isEqualTo(429);
      assertThat(answers.getLast().headers().firstValue("x-ratelimit-limit").orElse(""))
          .startsWith("3");
    }
    assertThat(running.get()).isNotNull();
    assertThat(progress).anyMatch(line -> line.contains("requests_per_unit: 3, unit: minute"));
  }

  private Matcher commandToTry() {
    return COMMAND.matcher(String.join("\n", progress));
  }

  private static List<HttpResponse<String>> callUntilLimited(Matcher command) throws Exception {
    assertThat(command.find()).isTrue();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(command.group(2)))
            .header("x-user", command.group(1))
            .build();
    List<HttpResponse<String>> answers = new ArrayList<>();
    try (HttpClient client = HttpClient.newHttpClient()) {
      do {
        answers.add(client.send(request, BodyHandlers.ofString()));
      } while (answers.getLast().statusCode() == 200 && answers.size() < 7);
    }
    return answers;
  }

  @Test
  void withoutEnvoySendsTheSameTrafficOverGrpc() throws Exception {
    Summary summary = runUntilLimited(new EnvoyLookup.Unavailable("no network"));
    assertThat(summary.through()).isEqualTo("grpc");
    assertCounted(summary);
    assertThat(progress).contains("no Envoy: no network");
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  @Test
  void anUnusableConfiguredEnvoyIsAnErrorBeforeAnythingStarts() {
    assertThatThrownBy(() -> run(new EnvoyLookup.Unusable("ENVOY_BIN=x is wrong")))
        .isInstanceOf(UnusableEnvoyException.class)
        .hasMessage("ENVOY_BIN=x is wrong");
    assertThat(progress).isEmpty();
    assertThat(screen.size()).isZero();
  }

  /** Runs until every rule has admitted and refused, however long that takes here. */
  private Summary runUntilLimited(EnvoyLookup envoy) throws Exception {
    DemoEnvironment environment = new DemoEnvironment(_ -> envoy, progress::add);
    Future<Summary> running;
    try (ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor();
        PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      running = thread.submit(() -> new Demo(environment, LONG_TIMEOUT).run(0, 7, out, false));
      try {
        await().until(() -> running.isDone() || isEveryRuleExceeded());
      } finally {
        environment.stop();
      }
    }
    return running.get();
  }

  private boolean isEveryRuleExceeded() {
    String newest = lines().isEmpty() ? " 0 " : lines().getLast();
    return !newest.contains(" 0 ");
  }

  private List<String> lines() {
    return screen.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private void run(EnvoyLookup envoy) throws Exception {
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      new Demo(new DemoEnvironment(_ -> envoy, progress::add), LONG_TIMEOUT).run(1, 7, out, false);
    }
  }

  private void assertCounted(Summary summary) {
    Counts counts = summary.counts();
    assertThat(counts.of(Answer.FAILED)).isZero();
    assertThat(counts.rules()).hasSize(4);
    for (String rule : counts.rules()) {
      assertThat(counts.of(rule, Answer.ALLOWED)).as(rule).isPositive();
      assertThat(counts.of(rule, Answer.LIMITED)).as(rule).isPositive();
    }
    assertThat(lines()).as("one in five seconds").hasSize(summary.seconds() / 5);
  }
}
