package io.throttlekit.demo.fair;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.DemoFiles;
import io.throttlekit.demo.DemoService;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.UnusableEnvoyException;
import io.throttlekit.demo.Upstream;
import io.throttlekit.demo.fair.FairTally.Figures;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Tenants that share one limit by weight, through a real Envoy: one floods, and another one is
 * absent and comes back. Used once.
 */
public final class FairDemo {
  private static final String POLICY = "fair/policy.yaml";

  /** A second is shown this long after it has ended, when its responses have arrived. */
  private static final long SHOWN_AFTER_MILLIS = 100;

  private final DemoEnvironment environment;
  private final String filterTimeout;
  private final TimeSource time = TimeSource.system();

  /** Creates a demo with the usual timeout of Envoy's filter for the service. */
  public FairDemo(DemoEnvironment environment) {
    this(environment, DemoFiles.FILTER_TIMEOUT);
  }

  FairDemo(DemoEnvironment environment, String filterTimeout) {
    this.environment = environment;
    this.filterTimeout = filterTimeout;
  }

  /**
   * Runs until {@link DemoEnvironment#stop}, or for the given time.
   *
   * @param seconds duration from 1, or 0 for no limit
   * @param terminal whether {@code out} is a terminal to draw on
   * @throws UnusableEnvoyException before any process is started, if the configured Envoy cannot be
   *     used
   * @throws IOException if there is no Envoy, or a process does not start
   */
  public FairSummary run(int seconds, PrintStream out, boolean terminal)
      throws IOException, InterruptedException {
    Path envoy = environment.envoy();
    try (Undo started = new Undo()) {
      Path folder = DemoFiles.folder(started);
      String text = DemoFiles.text(POLICY);
      Path file = Files.writeString(folder.resolve("policy.yaml"), text);
      FairPolicy policy = FairPolicy.read(file);
      environment.report("the policy:\n" + text.indent(2).stripTrailing());

      environment.report("starting the service with in-memory counters, and Envoy");
      DemoService service = DemoService.start(file, folder.resolve("service.log"));
      started.push(service::close);
      String url = "http://127.0.0.1:" + envoyPort(envoy, service, folder, started) + "/api";
      environment.report("sending the requests of three tenants to " + url);
      environment.report(
          "try a fourth tenant, which gets 429 after its part: curl -s -i -H 'x-org: you'"
              + " '"
              + url
              + "?[1-40]' | tail -n 10");
      return show(seconds, URI.create(url), new FairScreen(out, terminal, policy), policy);
    }
  }

  private int envoyPort(Path program, DemoService service, Path folder, Undo started)
      throws IOException {
    Upstream upstream = new Upstream();
    started.push(upstream::close);
    String bootstrap =
        DemoFiles.bootstrap("fair/envoy.yaml", filterTimeout)
            .replace("@SERVICE@", Integer.toString(service.port()))
            .replace("@UPSTREAM@", Integer.toString(upstream.port()));
    EnvoyProcess envoy = EnvoyProcess.start(program, bootstrap, folder);
    started.push(envoy::close);
    return envoy.port();
  }

  /** Sends requests from the next window on, and shows each window. */
  private FairSummary show(int seconds, URI uri, FairScreen screen, FairPolicy policy)
      throws InterruptedException {
    FairTally tally = new FairTally();
    long startMillis = Math.ceilDiv(time.wallMillis(), 1_000) * 1_000;
    FairSummary summary = FairSummary.of(policy);
    try (FairTraffic traffic = new FairTraffic(uri, tally, time, startMillis)) {
      traffic.start();
      for (int second = 0; seconds == 0 || second < seconds; second++) {
        long due = startMillis + (second + 1) * 1_000L + SHOWN_AFTER_MILLIS;
        if (environment.awaitStop(due - time.wallMillis(), TimeUnit.MILLISECONDS)) {
          break;
        }
        List<Figures> figures = tally.figures(second);
        tally.forget(second);
        summary = summary.plus(figures);
        screen.show(second, figures);
      }
    }
    return summary;
  }
}
