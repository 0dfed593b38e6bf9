package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

@RealEnvoy
class DemoTest {
  /** A longer filter timeout, because other tests use the processors. */
  private static final String PATIENT = "2s";

  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
  private final List<String> progress = new ArrayList<>();

  @Test
  void showsARealEnvoyThatAllowsAndLimitsByEveryRuleAndEndsItsProcesses() throws Exception {
    Summary summary = run(new EnvoyLookup.Found(EnvoyProgram.path(), "1.40.0"), 5);
    assertThat(summary.through()).isEqualTo("envoy");
    assertCounted(summary);
    assertThat(summary.json())
        .startsWith("{\"through\":\"envoy\",\"allowed\":")
        .contains("\"seed\":7");
    assertThat(progress).anyMatch(line -> line.startsWith("starting Envoy 1.40.0"));
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  @Test
  void sendsTheSameTrafficOverGrpcWhereThereIsNoEnvoy() throws Exception {
    Summary summary = run(new EnvoyLookup.Unavailable("no network"), 5);
    assertThat(summary.through()).isEqualTo("grpc");
    assertCounted(summary);
    assertThat(progress).contains("no Envoy: no network");
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  @Test
  void anEnvoyThatTheUserNamedAndThatCannotBeUsedIsAnErrorBeforeAnythingStarts() {
    assertThatThrownBy(() -> run(new EnvoyLookup.Unusable("ENVOY_BIN=x is wrong"), 1))
        .isInstanceOf(UnusableEnvoyException.class)
        .hasMessage("ENVOY_BIN=x is wrong");
    assertThat(progress).isEmpty();
    assertThat(screen.size()).isZero();
  }

  private Summary run(EnvoyLookup envoy, int seconds) throws Exception {
    try (PrintStream out = new PrintStream(screen, true, StandardCharsets.UTF_8)) {
      return new Demo(_ -> envoy, progress::add, PATIENT).run(seconds, 7, out, false);
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
    assertThat(screen.toString(StandardCharsets.UTF_8).lines()).hasSize(1);
  }
}
