package io.throttlekit.service.cli;

import io.throttlekit.TimeSource;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.LoadedConfig;
import io.throttlekit.service.config.load.ServeOption;
import io.throttlekit.service.log.Redaction;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.server.StartException;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the service until SIGTERM. */
@Command(
    name = "serve",
    description = "Runs the service until SIGTERM.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = {
      "Every field of the configuration file can be set by a variable",
      "THROTTLEKIT_SECTION_FIELD; those of envoyproxy/ratelimit are read, too.",
      "Counters are in the memory of this process unless --store is set.",
      "Exit code: 0 stopped, 1 cannot start, 2 wrong use or configuration."
    })
final class ServeCommand implements Callable<Integer> {

  private final Map<String, String> environment;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--print-config", description = "Print every setting with its origin, and exit.")
  private boolean printConfig;

  /** Used by bin/throttlekit, which prepares nothing for a service that would not start. */
  @Option(
      names = "--dry-run",
      hidden = true,
      description = "Print whether counters would be in memory or shared, and start nothing.")
  private boolean dryRun;

  private ServeCommand(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Returns the command with its options, those of settings included. */
  static CommandLine line(Map<String, String> environment) {
    CommandLine line = new CommandLine(new ServeCommand(environment));
    for (ServeOption option : ConfigLoader.options()) {
      line.getCommandSpec()
          .addOption(
              OptionSpec.builder(option.name())
                  .paramLabel(option.label())
                  .description(option.help().toArray(String[]::new))
                  .type(option.repeatable() ? List.class : String.class)
                  .build());
    }
    return line;
  }

  @Override
  public Integer call() throws InterruptedException {
    Map<String, List<String>> given = new HashMap<>();
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      given.put(option.longestName(), option.stringValues());
    }
    LoadedConfig loaded = new ConfigLoader(environment).load(given);
    PrintWriter err = spec.commandLine().getErr();
    ServiceConfig effective = loaded.config();
    if (effective == null) {
      loaded.errors().forEach(error -> err.println("error: " + error));
      return CommandLineTool.WRONG_USE;
    }
    if (printConfig) {
      loaded.warnings().forEach(warning -> err.println("warning: " + warning));
      PrintWriter out = spec.commandLine().getOut();
      out.print(loaded.yaml());
      RuntimeComments.lines(System.getProperty(RuntimeComments.CHOSEN, ""), effective)
          .forEach(out::println);
      return CommandLineTool.OK;
    }
    LogOutput.configure(
        effective.telemetry().logLevel(),
        effective.telemetry().logFormat(),
        Redaction.of(effective.secrets()));
    if (dryRun) {
      return tryPolicies(effective);
    }
    LoggerFactory.getLogger(RateLimitService.LIFECYCLE).info("{}", loaded.defaults());
    if (!loaded.skipped().isEmpty()) {
      LoggerFactory.getLogger(ServeCommand.class).info("{}", loaded.skipped());
    }
    loaded.warnings().forEach(LoggerFactory.getLogger(ServeCommand.class)::warn);
    return serve(effective, err);
  }

  /** Fails without valid policies, as the service would; their errors are in the log. */
  private int tryPolicies(ServiceConfig effective) {
    if (effective.policies().xds() != null) { // the control plane need not be there yet
      return printStore(effective);
    }
    PolicyStore tried = new PolicyStore();
    try (PolicyReloader reloader =
        new PolicyReloader(
            effective.policies(),
            PolicyReloader.options(effective),
            tried,
            TimeSource.system(),
            _ -> {})) {
      reloader.poll();
    }
    if (tried.book() == null && effective.policies().requireAtStart()) {
      return CommandLineTool.FAILED;
    }
    return printStore(effective);
  }

  private int printStore(ServiceConfig effective) {
    boolean memory = effective.store().address().inMemory();
    spec.commandLine().getOut().println(memory ? "memory" : "shared");
    return CommandLineTool.OK;
  }

  private int serve(ServiceConfig effective, PrintWriter err) throws InterruptedException {
    try {
      RateLimitService service = new RateLimitService(effective, TimeSource.system());
      Thread stopping = Thread.ofPlatform().name("stop").unstarted(() -> stopAndExit(service));
      Runtime.getRuntime().addShutdownHook(stopping);
      if (service.start()) {
        LogOutput.openDecisions();
        service.awaitServing();
        PrintWriter out = spec.commandLine().getOut();
        out.println(service.readyLine());
        out.flush();
      }
    } catch (StartException e) {
      err.println("error: " + e.getMessage());
      err.flush();
      return CommandLineTool.FAILED;
    }
    new CountDownLatch(1).await(); // the shutdown hook ends the process
    return CommandLineTool.OK;
  }

  /**
   * Stops the service and ends the process. A hook cannot change the exit code of a signal except
   * by ending the process itself.
   */
  private static void stopAndExit(RateLimitService service) {
    if (service.stop()) {
      Runtime.getRuntime().halt(CommandLineTool.OK);
    }
  }
}
