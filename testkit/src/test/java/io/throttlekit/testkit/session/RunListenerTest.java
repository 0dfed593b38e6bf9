package io.throttlekit.testkit.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.io.TempDir;

/** Runs the classes below in JVMs of their own. */
@Tag("process")
class RunListenerTest {
  @TempDir Path folder;

  @Test
  void aTestThatHangsFailsWithItsNameAndTheStacksOfAllThreads() throws Exception {
    Ended run = run(Waiting.class, "junit.jupiter.execution.timeout.default=1 s");
    assertThat(run.code).isEqualTo(1);
    assertThat(run.printed)
        .contains("Waiting.waits", "waits() timed out after 1 second", "the stacks of all threads:")
        .containsPattern("\"blocked\" virtual") // JUnit's own dump has no virtual threads
        .contains("RunListenerTest.awaitForever(");
  }

  @Test
  void aLifecycleMethodThatHangsFailsWithTheStacks() throws Exception {
    Ended run = run(WaitingBefore.class, "junit.jupiter.execution.timeout.default=1 s");
    assertThat(run.code).isEqualTo(1);
    assertThat(run.printed)
        .contains("waits() timed out after 1 second", "the stacks of all threads:");
  }

  /** All three at once, because each JVM spends its time waiting. */
  @Test
  void whatHangsEndsTheJvm() throws Exception {
    List<Class<?>> fixtures = List.of(Ignoring.class, HangingExtension.class, Dynamic.class);
    List<Started> runs = new ArrayList<>();
    try {
      for (Class<?> fixture : fixtures) {
        runs.add(
            start(
                fixture,
                "junit.jupiter.execution.timeout.default=1 s",
                "throttlekit.tests.stalled.seconds=4"));
      }
      assertHalted(runs.get(0), "Ignoring.ignores");
      assertHalted(runs.get(1), "RunListenerTest$HangingExtension");
      assertHalted(runs.get(2), "Dynamic.tests the second one");
    } finally {
      runs.forEach(Started::close);
    }
  }

  private static void assertHalted(Started run, String name) throws Exception {
    Ended ended = run.await();
    assertThat(ended.code).isEqualTo(StalledRun.EXIT_CODE);
    assertThat(ended.printed)
        .contains("No test has started or ended for 4 s", name, "the stacks of all threads:")
        .contains("RunListenerTest.awaitForever(");
  }

  @Test
  void outputOfATestThatPassesGoesToTheFileOfItsClassOnly() throws Exception {
    Ended run = run(Talking.class);
    assertThat(run.code).isZero();
    assertThat(run.printed).doesNotContain("said", "logged");
    assertThat(Files.readString(folder.resolve(Talking.class.getName() + ".txt")))
        .contains("said out", "said err", "logged");
  }

  @Test
  void outputOfAClassIsShownAfterAFailure() throws Exception {
    Ended run = run(TalkingAndFailing.class);
    assertThat(run.code).isEqualTo(1);
    assertThat(run.printed)
        .containsSubsequence(
            "[ERROR]", "TalkingAndFailing.fails", "IllegalStateException: broken", "at ", "said");
  }

  @Test
  @ExtendWith(Parameters.class)
  void theBuildBoundsEveryTestAndEveryRun(ExtensionContext context) {
    assertThat(context.getConfigurationParameter("junit.jupiter.execution.timeout.default"))
        .isPresent();
    assertThat(context.getConfigurationParameter("throttlekit.tests.stalled.seconds")).isPresent();
    assertThat(context.getConfigurationParameter("throttlekit.tests.output")).isPresent();
  }

  static class Parameters implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == ExtensionContext.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context;
    }
  }

  private record Ended(int code, String printed) {}

  private record Started(Process jvm, Path log) implements AutoCloseable {
    Ended await() throws Exception {
      assertThat(jvm.waitFor(5, TimeUnit.MINUTES)).isTrue();
      return new Ended(jvm.exitValue(), Files.readString(log));
    }

    @Override
    public void close() {
      jvm.destroyForcibly();
    }
  }

  private Ended run(Class<?> fixture, String... parameters) throws Exception {
    try (Started run = start(fixture, parameters)) {
      return run.await();
    }
  }

  private Started start(Class<?> fixture, String... parameters) throws Exception {
    Path log = folder.resolve(fixture.getSimpleName() + ".log");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                FixtureRun.class.getName(),
                fixture.getName(),
                "junit.jupiter.extensions.autodetection.enabled=true",
                "throttlekit.tests.output=" + folder));
    command.addAll(List.of(parameters));
    Process jvm =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    return new Started(jvm, log);
  }

  private static void awaitForever() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  private static void awaitForeverUninterruptibly() {
    while (true) {
      try {
        awaitForever();
      } catch (InterruptedException _) {
        // That is what is tested.
      }
    }
  }

  static class Waiting {
    @Test
    void waits() throws InterruptedException {
      Thread.ofVirtual().name("blocked").start(RunListenerTest::awaitForeverUninterruptibly);
      awaitForever();
    }
  }

  static class WaitingBefore {
    @BeforeEach
    void waits() throws InterruptedException {
      awaitForever();
    }

    @Test
    void passes() {}
  }

  static class Ignoring {
    @Test
    void ignores() {
      awaitForeverUninterruptibly();
    }
  }

  @ExtendWith(Hang.class)
  static class HangingExtension {
    @Test
    void passes() {}
  }

  static class Hang implements BeforeAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) throws InterruptedException {
      awaitForever();
    }
  }

  static class Dynamic {
    @TestFactory
    Stream<DynamicTest> tests() {
      return Stream.of(
          DynamicTest.dynamicTest("the first one", () -> {}),
          DynamicTest.dynamicTest("the second one", RunListenerTest::awaitForever));
    }
  }

  static class Talking {
    @Test
    void talks() {
      System.out.println("said out");
      System.err.println("said err");
      Logger.getLogger("test").warning("logged");
    }
  }

  static class TalkingAndFailing {
    @Test
    void fails() {
      System.out.println("said");
      throw new IllegalStateException("broken");
    }
  }
}
