package io.throttlekit.demo;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line of {@code bin/demo}. */
@Command(
    name = "bin/demo",
    mixinStandardHelpOptions = true,
    description = "The service, a real Envoy in front of it, and traffic to watch.")
public final class DemoMain implements Callable<Integer> {
  private static final int MOST_SECONDS = 86_400;

  @Option(names = "--seconds", description = "stop after this many, from 1; without it, at Ctrl-C")
  private int seconds;

  @Option(names = "--seed", description = "chooses the order of requests; 1 unless told otherwise")
  private long seed = 1;

  @Option(names = "--json", description = "end with one line of JSON")
  private boolean json;

  @Option(names = "--terminal", hidden = true, description = "draw on standard output")
  private boolean terminal;

  /**
   * Exits with 0 after the time that was asked for, 1 when something cannot be started, 2 for a
   * wrong command line or {@code ENVOY_BIN}.
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new DemoMain()).execute(args));
  }

  @Override
  public Integer call() {
    if (seconds < 0 || seconds > MOST_SECONDS) {
      throw new CommandLine.ParameterException(
          new CommandLine(this), "--seconds is from 1 to " + MOST_SECONDS);
    }
    Demo demo = Demo.ofThisMachine(System.err::println);
    CountDownLatch ended = new CountDownLatch(1);
    Thread atInterrupt = Thread.ofPlatform().unstarted(() -> stop(demo, ended));
    Runtime.getRuntime().addShutdownHook(atInterrupt);
    try {
      Summary summary = demo.run(seconds, seed, System.out, terminal);
      System.out.println(json ? summary.json() : summary.words());
      System.out.flush();
      return CommandLine.ExitCode.OK;
    } catch (UnusableEnvoyException e) {
      System.err.println("bin/demo: " + e.getMessage());
      return CommandLine.ExitCode.USAGE;
    } catch (IOException e) {
      System.err.println("the demo cannot run: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CommandLine.ExitCode.SOFTWARE;
    } finally {
      ended.countDown();
    }
  }

  private static void stop(Demo demo, CountDownLatch ended) {
    demo.stop();
    try {
      boolean _ = ended.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
