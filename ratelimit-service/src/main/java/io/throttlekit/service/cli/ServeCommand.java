package io.throttlekit.service.cli;

import io.throttlekit.TimeSource;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.StartException;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.LoadedConfig;
import io.throttlekit.service.config.load.ServeFlags;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.policies.PolicyStore;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the service until SIGTERM. */
@Command(
    name = "serve",
    description = "Runs the service until SIGTERM.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footer = {
      "Every field of the configuration file can be set by a variable THROTTLEKIT_SECTION_FIELD;",
      "the variables of envoyproxy/ratelimit are read too.",
      "Counters are in the memory of this process unless --store is set.",
      "Exit code: 0 stopped, 1 cannot start, 2 wrong use or configuration."
    })
final class ServeCommand implements Callable<Integer> {

  private final Map<String, String> environment;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--policies",
      paramLabel = "PATH",
      description = "Policy file or folder of them; repeatable.")
  private List<String> policies = new ArrayList<>();

  @Option(names = "--config", paramLabel = "FILE", description = "Configuration file.")
  private @Nullable String config;

  @Option(names = "--grpc-port", paramLabel = "PORT", description = "gRPC; 8081, 0 for any free.")
  private @Nullable String grpcPort;

  @Option(names = "--http-port", paramLabel = "PORT", description = "HTTP; 8080, 0 for any free.")
  private @Nullable String httpPort;

  @Option(names = "--debug-port", paramLabel = "PORT", description = "Debug; 6070, 0 for any free.")
  private @Nullable String debugPort;

  @Option(
      names = "--store",
      paramLabel = "URI",
      description = {
        "Store of the counters: memory (the default), redis://HOST:PORT,",
        "redis-sentinel://HOST:PORT,HOST:PORT#MASTER,",
        "redis-cluster://HOST:PORT,HOST:PORT, redis-socket:///PATH or",
        "postgresql://HOST:PORT/DATABASE;",
        "rediss for TLS. A password is better given by the variable",
        "THROTTLEKIT_STORE_PASSWORD, which other users cannot read."
      })
  private @Nullable String store;

  @Option(
      names = "--region",
      paramLabel = "NAME",
      description = "The region that this process belongs to; with --coordinator.")
  private @Nullable String region;

  @Option(
      names = "--coordinator",
      paramLabel = "URI",
      description = {
        "Store of the limits that regions share (scope: global): redis://, rediss://,",
        "redis-sentinel://, redis-cluster:// or postgresql:// as for --store;",
        "memory is for one process. Its password is better given by the variable",
        "THROTTLEKIT_FEDERATION_PASSWORD."
      })
  private @Nullable String coordinator;

  @Option(names = "--print-config", description = "Print every setting with its origin, and exit.")
  private boolean printConfig;

  /** Used by bin/throttlekit, which prepares nothing for a service that would not start. */
  @Option(
      names = "--dry-run",
      hidden = true,
      description = "Print whether counters would be in memory or shared, and start nothing.")
  private boolean dryRun;

  ServeCommand(Map<String, String> environment) {
    this.environment = environment;
  }

  @Override
  public Integer call() throws InterruptedException {
    LoadedConfig loaded =
        new ConfigLoader(environment)
            .load(
                new ServeFlags(
                    policies, config, grpcPort, httpPort, debugPort, store, region, coordinator));
    PrintWriter err = spec.commandLine().getErr();
    ServiceConfig effective = loaded.config();
    if (effective == null) {
      loaded.errors().forEach(error -> err.println("error: " + error));
      return CommandLineTool.WRONG_USE;
    }
    if (printConfig) {
      loaded.warnings().forEach(warning -> err.println("warning: " + warning));
      spec.commandLine().getOut().print(loaded.yaml());
      return CommandLineTool.OK;
    }
    LogOutput.configure(effective.telemetry().logLevel(), effective.telemetry().logFormat());
    if (dryRun) {
      return tryPolicies(effective);
    }
    LoggerFactory.getLogger(RateLimitService.LIFECYCLE).info("{}", loaded.defaults());
    loaded.warnings().forEach(LoggerFactory.getLogger(ServeCommand.class)::warn);
    return serve(effective, err);
  }

  /** Fails without valid policies, as the service would; their errors are in the log. */
  private int tryPolicies(ServiceConfig effective) {
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
