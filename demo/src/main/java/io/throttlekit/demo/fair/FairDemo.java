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
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
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

  /** Between two looks whether the responses of a second that is over have arrived. */
  private static final long LOOK_MILLIS = 20;

  /**
   * Requests of a round of the warm-up, and the time in which they are answered once it is over.
   */
  private static final int WARM_UP_REQUESTS = 60;

  private static final long WARM_MILLIS = 300;

  /** Rounds after which the machine is as slow as it stays. */
  private static final int MAX_WARM_UP_ROUNDS = 20;

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
      warmUp(URI.create(url));
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

  /**
   * Sends requests one after the other until they are answered fast: the first ones of a fresh
   * service, Envoy and client take so long that they would be decided in later windows.
   */
  private void warmUp(URI uri) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      long millis = Long.MAX_VALUE;
      for (int round = 0; round < MAX_WARM_UP_ROUNDS && millis > WARM_MILLIS; round++) {
        long begun = time.monotonicNanos();
        for (int i = 0; i < WARM_UP_REQUESTS; i++) {
          if (environment.awaitStop(0, TimeUnit.MILLISECONDS)) {
            return;
          }
          int tenant = i % FairPlan.TENANTS.size();
          var _ = client.send(FairTraffic.request(uri, tenant), BodyHandlers.discarding());
        }
        millis = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos() - begun);
      }
    }
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
        long due = startMillis + (second + 1) * 1_000L + LOOK_MILLIS;
        boolean stopped = environment.awaitStop(due - time.wallMillis(), TimeUnit.MILLISECONDS);
        while (!stopped && !tally.isAnswered(second)) {
          stopped = environment.awaitStop(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
        if (stopped) {
          break;
        }
        List<Figures> figures = tally.figures(second);
        tally.forget(second - 1);
        summary = summary.plus(figures);
        screen.show(second, figures);
      }
    }
    return summary;
  }
}
