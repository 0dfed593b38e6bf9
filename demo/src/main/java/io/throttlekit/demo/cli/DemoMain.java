package io.throttlekit.demo.cli;

import io.throttlekit.demo.Demo;
import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.MeshDemo;
import io.throttlekit.demo.MeshScenario;
import io.throttlekit.demo.MeshSummary;
import io.throttlekit.demo.Summary;
import io.throttlekit.demo.UnusableEnvoyException;
import io.throttlekit.demo.fair.FairDemo;
import io.throttlekit.demo.fair.FairSummary;
import io.throttlekit.demo.fleet.FleetDemo;
import io.throttlekit.demo.fleet.FleetPlan;
import io.throttlekit.demo.fleet.FleetSummary;
import io.throttlekit.demo.overload.Overload;
import io.throttlekit.demo.overload.OverloadPlan;
import io.throttlekit.demo.overload.OverloadSummary;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line of {@code bin/demo}. */
@Command(
    name = "bin/demo",
    mixinStandardHelpOptions = true,
    description = "The service, a real Envoy in front of it, and traffic to watch.")
public final class DemoMain implements Callable<Integer> {
  private static final int MAX_SECONDS = 86_400;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--mesh",
      description =
          "three regions that share a limit, each with an Envoy, two replicas of the service and a"
              + " Redis; one of them is cut off from the coordinator for a while")
  private boolean mesh;

  @Option(
      names = "--overload",
      description =
          "an upstream that is offered up to five times what it can do, behind an Envoy without a"
              + " limit, one with its own adaptive limit, and one whose limit the service sets; 12"
              + " minutes by default")
  private boolean overload;

  @Option(
      names = "--fair",
      description =
          "three tenants that share a limit by their plans: one floods, another one is absent for a"
              + " while and comes back")
  private boolean fair;

  @Option(
      names = "--replicas",
      description =
          "with --overload: this many replicas of the service, from 2 to 8, that share a store,"
              + " behind four Envoys with loads of 8:4:2:1; the one that steers is killed half way,"
              + " or has another --fault")
  private @Nullable String replicas;

  @Option(
      names = "--gate",
      description = "with --replicas: where the limit is enforced, envoy (by default) or service")
  private @Nullable String gate;

  @Option(
      names = "--store",
      description = "with --replicas: the store, redis (by default) or postgresql")
  private @Nullable String store;

  @Option(
      names = "--fault",
      description =
          "with --replicas: what happens to the replica that steers, kill (by default), suspend or"
              + " cut (from the store), for 10 s")
  private @Nullable String fault;

  @Option(
      names = "--phase",
      description =
          "with --overload: only these of 0.8, 1, 1.05, 1.2, 2, 5, halved and restored, separated"
              + " by commas; with --replicas only 2 and 5")
  private @Nullable String phase;

  @Option(
      names = "--arms",
      description = "with --overload: only these of none, envoy and ours, separated by commas")
  private @Nullable String arms;

  @Option(
      names = "--seconds",
      description =
          "stop after this many, from 1 to 86400; without it, at Ctrl-C. With --mesh from 18, and"
              + " 60 without it: six windows of up to 10 s. With --overload from 10 for each phase,"
              + " and 90 without it; with --replicas from 40, and 120 without it")
  private @Nullable String seconds;

  @Option(
      names = "--seed",
      description =
          "chooses the order of requests, and with --overload when they come; 1 by default")
  private long seed = 1;

  @Option(names = "--json", description = "end with one line of JSON")
  private boolean json;

  @Option(names = "--terminal", hidden = true, description = "draw on standard output")
  private boolean terminal;

  /**
   * Exits with 0 after the given time, 1 if something cannot be started, 2 for a wrong command line
   * or {@code ENVOY_BIN}.
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new DemoMain())
        .registerConverter(long.class, DemoMain::whole)
        .setUsageHelpAutoWidth(true)
        .setParameterExceptionHandler(DemoMain::usageError);
  }

  @Override
  public Integer call() {
    if (Stream.of(mesh, overload, fair).filter(chosen -> chosen).count() > 1) {
      throw new ParameterException(
          spec.commandLine(), "--mesh, --overload and --fair are demos of their own");
    }
    if (!overload && (phase != null || arms != null)) {
      throw new ParameterException(
          spec.commandLine(), "--phase and --arms choose from --overload, which is not there");
    }
    if (replicas != null && (!overload || arms != null)) {
      throw new ParameterException(
          spec.commandLine(), "--replicas goes with --overload, and without --arms");
    }
    if (replicas == null && (gate != null || store != null || fault != null)) {
      throw new ParameterException(
          spec.commandLine(), "--gate, --store and --fault go with --replicas, which is not there");
    }
    if (replicas != null) {
      return showFleet(replicas);
    }
    return overload ? showOverload() : mesh ? showMesh() : fair ? showFair() : show();
  }

  private int showOverload() {
    OverloadPlan plan;
    try {
      plan = OverloadPlan.of(phase, arms, seconds, seed);
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
    }
    return show(environment -> {
      OverloadSummary summary = new Overload(environment).run(plan, System.out, terminal);
      return !json ? summary.words() : terminal ? summary.json() : summary.textAndJson();
    });
  }

  private int showFleet(String count) {
    FleetPlan plan;
    try {
      plan = FleetPlan.of(count, gate, store, fault, phase, seconds, seed);
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
    }
    return show(environment -> {
      FleetSummary summary = new FleetDemo(environment).run(plan, System.out);
      return json ? summary.textAndJson() : summary.words();
    });
  }

  private int show() {
    int end = seconds == null ? 0 : seconds(seconds, 1);
    return show(environment -> {
      Summary summary = new Demo(environment).run(end, seed, System.out, terminal);
      return json ? summary.json() : summary.words();
    });
  }

  private int showMesh() {
    int end =
        seconds == null ? MeshScenario.USUAL_SECONDS : seconds(seconds, MeshScenario.MIN_SECONDS);
    return show(environment -> {
      MeshSummary summary = new MeshDemo(environment).run(end, System.out);
      return json ? summary.json() : summary.words();
    });
  }

  private int showFair() {
    int end = seconds == null ? 0 : seconds(seconds, 1);
    return show(environment -> {
      FairSummary summary = new FairDemo(environment).run(end, System.out, terminal);
      return json ? summary.json() : summary.words();
    });
  }

  /** A demo that runs and returns a summary. */
  @FunctionalInterface
  private interface Show {
    String run(DemoEnvironment environment) throws IOException, InterruptedException;
  }

  private static int show(Show show) {
    DemoEnvironment environment = DemoEnvironment.ofThisMachine(System.err::println);
    CountDownLatch ended = new CountDownLatch(1);
    Thread atInterrupt = Thread.ofPlatform().unstarted(() -> stop(environment, ended));
    Runtime.getRuntime().addShutdownHook(atInterrupt);
    try {
      System.out.println(show.run(environment));
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

  private static long whole(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("'" + text + "' is not a whole number");
    }
  }

  private int seconds(String text, int fewest) {
    if (text.matches("[0-9]{1,5}")) {
      int seconds = Integer.parseInt(text);
      if (seconds >= fewest && seconds <= MAX_SECONDS) {
        return seconds;
      }
    }
    throw new ParameterException(
        spec.commandLine(),
        "--seconds is a whole number from %d to %d%s, not '%s'"
            .formatted(fewest, MAX_SECONDS, mesh ? " with --mesh" : "", text));
  }

  private static int usageError(ParameterException mistake, String[] arguments) {
    PrintWriter err = mistake.getCommandLine().getErr();
    err.println(
        "bin/demo: "
            + (mistake instanceof UnmatchedArgumentException unmatched
                ? "there is no '"
                    + String.join(" ", unmatched.getUnmatched())
                    + "' here"
                    + suggestion(unmatched)
                : mistake.getMessage()));
    err.println("Try 'bin/demo --help'.");
    err.flush();
    return CommandLine.ExitCode.USAGE;
  }

  private static String suggestion(UnmatchedArgumentException unmatched) {
    List<String> near = unmatched.getSuggestions();
    return near.isEmpty() ? "" : " (did you mean " + near.getFirst() + "?)";
  }

  private static void stop(DemoEnvironment environment, CountDownLatch ended) {
    environment.stop();
    try {
      // The JVM halts when its hooks end: processes need time to be stopped and files deleted.
      boolean _ = ended.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
