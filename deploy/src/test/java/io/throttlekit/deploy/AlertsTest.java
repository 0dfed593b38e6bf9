package io.throttlekit.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Alerts and dashboards, which the chart and the Compose file have alike. */
class AlertsTest {
  private static final Path MESH = Chart.PROJECT.resolve("deploy/mesh");
  private static final Pattern DOCUMENTED =
      Pattern.compile("`((?:throttlekit|ratelimit)_[a-z_]+)(?:\\{([a-z_, ]+)})?`");

  /** Labels that Prometheus and the tables of rules add. */
  private static final Set<String> ADDED_LABELS =
      Set.of("region", "job", "instance", "namespace", "pod", "le", "domain", "key1", "key2");

  /** Metrics of Prometheus, of OpenTelemetry's conventions and of Envoy. */
  private static final Set<String> OTHERS =
      Set.of(
          "up",
          "jvm_memory_committed_bytes",
          "jvm_memory_used_bytes",
          "envoy_cluster_membership_healthy",
          "envoy_cluster_membership_total",
          "envoy_cluster_ratelimit_ok",
          "envoy_cluster_ratelimit_over_limit",
          "envoy_cluster_ratelimit_error",
          "envoy_cluster_ratelimit_failure_mode_allowed");

  private static final Pattern RANGE = Pattern.compile("\\[(\\d+)m]");
  private static final Pattern ALTERNATIVES = Pattern.compile("\\bor\\b");
  private static final Pattern HEADING = Pattern.compile("^### ([A-Z]\\w+)$", Pattern.MULTILINE);

  private static List<Manifest> alerts() throws IOException {
    List<Manifest> alerts = new ArrayList<>();
    for (Manifest group :
        new Manifest(Manifest.readMap(MESH.resolve("alerts.yaml"))).list("groups")) {
      alerts.addAll(group.list("rules"));
    }
    assertThat(alerts).hasSizeGreaterThan(15);
    return alerts;
  }

  @Test
  void theChartHasTheAlertsAndDashboardsOfTheComposeFile() throws IOException {
    assertThat(Chart.FOLDER.resolve("files/alerts.yaml"))
        .hasSameTextualContentAs(MESH.resolve("alerts.yaml"));
    List<Path> dashboards = Chart.files(Chart.DASHBOARDS);
    assertThat(dashboards).hasSize(2);
    Path originals = MESH.resolve("grafana/dashboards");
    assertThat(Chart.files(originals)).hasSameSizeAs(dashboards);
    for (Path dashboard : dashboards) {
      assertThat(dashboard)
          .hasSameTextualContentAs(originals.resolve(dashboard.getFileName().toString()));
    }
  }

  @Test
  void everyAlertSaysWhatHappensHowUrgentItIsAndWhatToDo() throws IOException {
    String runbook = Files.readString(Chart.PROJECT.resolve("docs/OPERATIONS.md"));
    Set<String> sections = new TreeSet<>();
    HEADING
        .matcher(runbook.substring(runbook.indexOf("## Runbook")))
        .results()
        .forEach(found -> sections.add(found.group(1)));
    Set<String> names = new TreeSet<>();
    for (Manifest alert : alerts()) {
      String name = alert.text("alert");
      assertThat(names.add(name)).as("a second %s", name).isTrue();
      assertThat(alert.text("annotations", "summary")).as(name).isNotBlank();
      assertThat(alert.text("annotations", "description")).as(name).isNotBlank();
      assertThat(alert.text("annotations", "runbook_url"))
          .isEqualTo("docs/OPERATIONS.md#" + name.toLowerCase(Locale.ROOT));
      assertThat(alert.text("labels", "severity")).as(name).isIn("page", "ticket");
    }
    assertThat(sections).isEqualTo(names);
  }

  @Test
  void everyAlertAndPanelUsesMetricsAndLabelsThatExist() throws IOException {
    Map<String, Set<String>> documented = documented();
    List<String> expressions = new ArrayList<>();
    for (Manifest alert : alerts()) {
      expressions.add(alert.text("expr"));
    }
    for (Path file : Chart.files(Chart.DASHBOARDS)) {
      for (Manifest panel : new Manifest(Manifest.readMap(file)).list("panels")) {
        panel.list("targets").forEach(target -> expressions.add(target.text("expr")));
      }
    }
    assertThat(expressions).hasSizeGreaterThan(50);
    for (String expression : expressions) {
      assertExists(expression, documented);
    }
  }

  @Test
  void aMetricOrLabelThatDoesNotExistIsFound() throws IOException {
    Map<String, Set<String>> documented = documented();
    for (String wrong :
        List.of(
            "sum by (region) (rate(throttlekit_decision_total[5m])) > 0",
            "absent(thottlekit_store_up)",
            "throttlekit_store_up unless up_to_date == 0",
            "rate(throttlekit_store_failures_total{cause=\"timeout\"}[5m])",
            "histogram_quantile(0.9, rate(throttlekit_store_up_bucket[5m]))")) {
      assertThatThrownBy(() -> assertExists(wrong, documented))
          .as(wrong)
          .isInstanceOf(AssertionError.class);
    }
    assertExists("rate(throttlekit_store_failures_total{reason=\"a b\"}[5m])", documented);
  }

  /** Returns the metrics of the tables of docs/METRICS.md, with their labels. */
  private static Map<String, Set<String>> documented() throws IOException {
    Map<String, Set<String>> documented = new HashMap<>();
    for (String row : Files.readAllLines(Chart.PROJECT.resolve("docs/METRICS.md"))) {
      Matcher metric = row.startsWith("| `") ? DOCUMENTED.matcher(row.split(" \\|", 2)[0]) : null;
      while (metric != null && metric.find()) {
        Set<String> labels = new TreeSet<>(ADDED_LABELS);
        if (metric.group(2) != null) {
          labels.addAll(List.of(metric.group(2).split(", ?")));
        }
        documented.put(metric.group(1), labels);
        if (row.contains("| histogram")) {
          for (String part : List.of("_bucket", "_count", "_sum")) {
            documented.put(metric.group(1) + part, labels);
          }
        }
      }
    }
    assertThat(documented).hasSizeGreaterThan(100);
    return documented;
  }

  private static void assertExists(String expression, Map<String, Set<String>> documented) {
    PromQuery.labelsByMetric(expression)
        .forEach((metric, labels) -> {
          if (!OTHERS.contains(metric)) {
            assertThat(documented).as(expression).containsKey(metric);
            assertThat(documented.get(metric)).as(expression).containsAll(labels);
          }
        });
  }

  /** Each region has processes and operators of its own. */
  @Test
  void everyAlertIsByRegion() throws IOException {
    for (Manifest alert : alerts()) {
      String name = alert.text("alert");
      for (String part : ALTERNATIVES.split(alert.text("expr"), -1)) {
        if (!part.strip().startsWith("absent(")) {
          assertThat(part).as(name).contains("by (region");
        }
      }
      assertThat(alert.text("annotations", "summary")).as(name).contains("{{ $labels.region }}");
    }
  }

  /** The scrape interval of the chart's monitors is 15 s. */
  @Test
  void everyRangeIsAtLeastFourScrapesLong() throws IOException {
    for (Manifest alert : alerts()) {
      Matcher range = RANGE.matcher(alert.text("expr"));
      boolean any = false;
      while (range.find()) {
        any = true;
        assertThat(Integer.parseInt(range.group(1)) * 60).isGreaterThanOrEqualTo(4 * 15);
      }
      assertThat(alert.text("expr").contains("[")).isEqualTo(any);
    }
  }

  @Test
  void everyDashboardLetsTheReaderSelectDatasourceAndRegion() throws IOException {
    for (Path file : Chart.files(Chart.DASHBOARDS)) {
      Manifest dashboard = new Manifest(Manifest.readMap(file));
      assertThat(dashboard.list("templating", "list"))
          .extracting(variable -> variable.text("name"))
          .startsWith("datasource", "region");
      for (Manifest panel : dashboard.list("panels")) {
        assertThat(panel.text("datasource", "uid")).isEqualTo("${datasource}");
        for (Manifest target : panel.list("targets")) {
          assertThat(target.text("datasource", "uid")).isEqualTo("${datasource}");
          assertThat(target.text("expr")).containsPattern("region=~\"\\$region\"|^vector");
        }
      }
    }
  }
}
