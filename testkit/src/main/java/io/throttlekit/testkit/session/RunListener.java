package io.throttlekit.testkit.session;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.ConfigurationParameters;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Ends a JVM whose tests hang, and keeps the output of tests off the console unless they fail.
 *
 * <p>JUnit registers the listener in every module whose tests have the test kit on their class
 * path; the build's configuration parameters switch on each part:
 *
 * <ul>
 *   <li>{@code throttlekit.tests.stalled.seconds}: a JVM in which no test starts or ends for that
 *       long, and at the latest for twice as long, prints which tests are running and the stacks of
 *       all threads, and halts with {@value StalledRun#EXIT_CODE}. JUnit's timeouts interrupt a
 *       test; this also ends what ignores the interrupt, and what runs outside of a test method.
 *   <li>{@code throttlekit.tests.output}: folder of one file for each test class, with all that is
 *       written to standard output and standard error while the class runs. The end of the file is
 *       printed when a test of the class failed.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class RunListener implements TestExecutionListener {
  private @Nullable StalledRun stalled;
  private @Nullable ClassOutput output;

  @Override
  public synchronized void testPlanExecutionStarted(TestPlan plan) {
    ConfigurationParameters parameters = plan.getConfigurationParameters();
    output =
        parameters
            .get("throttlekit.tests.output")
            .map(folder -> ClassOutput.into(Path.of(folder)))
            .orElse(null);
    stalled =
        parameters
            .get("throttlekit.tests.stalled.seconds", Long::valueOf)
            .map(seconds -> StalledRun.watch(Duration.ofSeconds(seconds), console()))
            .orElse(null);
  }

  private PrintStream console() {
    return output == null ? System.out : output.console();
  }

  @Override
  public synchronized void executionStarted(TestIdentifier test) {
    if (stalled != null) {
      stalled.started(test);
    }
    if (output != null) {
      output.started(test);
    }
  }

  @Override
  public synchronized void dynamicTestRegistered(TestIdentifier test) {
    if (stalled != null) {
      stalled.progressed();
    }
  }

  @Override
  public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (stalled != null) {
      stalled.finished(test);
    }
    if (output != null) {
      output.finished(test, result);
    }
  }

  @Override
  public synchronized void testPlanExecutionFinished(TestPlan plan) {
    if (stalled != null) {
      stalled.close();
    }
  }
}
