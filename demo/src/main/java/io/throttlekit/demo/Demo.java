package io.throttlekit.demo;

import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyLookup.Found;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unavailable;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unusable;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Starts all processes, shows traffic and counts, and stops the processes. Used once. */
public final class Demo {
  private final DemoEnvironment environment;
  private final String filterTimeout;

  /** Creates a demo with the usual timeout of Envoy's filter for the service. */
  public Demo(DemoEnvironment environment) {
    this(environment, DemoFiles.FILTER_TIMEOUT);
  }

  Demo(DemoEnvironment environment, String filterTimeout) {
    this.environment = environment;
    this.filterTimeout = filterTimeout;
  }

  /**
   * Runs until {@link DemoEnvironment#stop}, or for the given time.
   *
   * @param seconds duration from 1, or 0 for no limit
   * @param seed of the order of requests
   * @param terminal whether {@code out} is a terminal to draw on
   * @throws UnusableEnvoyException before any process is started, if the configured Envoy cannot be
   *     used
   */
  public Summary run(int seconds, long seed, PrintStream out, boolean terminal)
      throws IOException, InterruptedException {
    EnvoyLookup envoy = environment.findEnvoy();
    environment.report(
        seconds == 0
            ? "runs until Ctrl-C; --seconds N ends it after N seconds"
            : "runs for " + seconds + " s");
    try (Undo started = new Undo()) {
      Path folder = DemoFiles.folder(started);
      Path policyFile =
          Files.writeString(folder.resolve("policy.yaml"), DemoFiles.text("policy.yaml"));
      DemoPolicy policy = DemoPolicy.read(policyFile);
      environment.report("the policy:\n" + DemoFiles.text("policy.yaml").indent(2).stripTrailing());

      environment.report("starting the service with in-memory counters");
      DemoService service = DemoService.start(policyFile, folder.resolve("service.log"));
      started.push(service::close);

      Counts counts = new Counts(policy.rules(DemoRequest.MIX));
      RequestSender sender = sender(envoy, service.port(), folder, started);
      Traffic traffic = new Traffic(sender, counts, policy::ruleOf, DemoRequest.MIX, seed);
      started.push(traffic::close);

      environment.report(
          "a row sums all users of its rule; but for exports, each user has a limit of their own;"
              + " failed: neither allowed nor limited, such as without an answer");
      traffic.start();
      int shown = show(seconds, counts, new Screen(out, terminal));
      traffic.close();
      return new Summary(sender.through(), shown, seed, counts);
    }
  }

  private RequestSender sender(EnvoyLookup lookup, int servicePort, Path folder, Undo started)
      throws IOException {
    EnvoyProcess envoy = null;
    switch (lookup) {
      case Found(Path program, String version) -> {
        Upstream upstream = new Upstream();
        started.push(upstream::close);
        envoy = startEnvoy(program, version, servicePort, upstream.port(), folder);
      }
      case Unavailable(String reason) -> environment.report("no Envoy: " + reason);
      case Unusable(String reason) -> throw new IllegalStateException(reason); // see findEnvoy
    }
    if (envoy == null) {
      environment.report("sending the same traffic to the service over gRPC");
      return new GrpcSender(servicePort);
    }
    started.push(envoy::close);
    String url = "http://127.0.0.1:" + envoy.port();
    environment.report("sending 40 requests a second to " + url);
    environment.report(
        "the fourth of your calls in a minute gets 429: curl -i -H 'x-user: you' " + url + "/api");
    return new HttpSender(envoy.port());
  }

  private @Nullable EnvoyProcess startEnvoy(
      Path program, String version, int servicePort, int upstreamPort, Path folder)
      throws IOException {
    environment.report("starting Envoy " + version);
    String bootstrap =
        DemoFiles.bootstrap("envoy.yaml", filterTimeout)
            .replace("@SERVICE@", Integer.toString(servicePort))
            .replace("@UPSTREAM@", Integer.toString(upstreamPort));
    try {
      return EnvoyProcess.start(program, bootstrap, folder);
    } catch (IOException e) {
      environment.report("Envoy does not start: " + e.getMessage());
      return null;
    }
  }

  private int show(int seconds, Counts counts, Screen screen) throws InterruptedException {
    int second = 0;
    while ((seconds == 0 || second < seconds) && !environment.awaitStop(1, TimeUnit.SECONDS)) {
      second++;
      screen.show(second, counts);
    }
    return second;
  }
}
