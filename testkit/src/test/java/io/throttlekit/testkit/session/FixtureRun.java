package io.throttlekit.testkit.session;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs one test class in a JVM of its own, with {@code name=value} configuration parameters. */
final class FixtureRun {
  private FixtureRun() {}

  public static void main(String[] args) {
    Map<String, String> parameters = new TreeMap<>();
    for (int i = 1; i < args.length; i++) {
      String[] parameter = args[i].split("=", 2);
      parameters.put(parameter[0], parameter[1]);
    }
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(args[0]))
                .configurationParameters(parameters)
                .build(),
            summary);
    System.exit(summary.getSummary().getTotalFailureCount() == 0 ? 0 : 1);
  }
}
