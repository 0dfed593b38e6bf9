package io.throttlekit.demo;

import static io.throttlekit.demo.ComposeFile.PROJECT;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics in the queries of the mesh's dashboards, against those that its service exports. */
@RealRedis
class DashboardsTest {
  private static final Path MESH = PROJECT.resolve("deploy/mesh");
  private static final Pattern METRIC = Pattern.compile("\\b(?:throttlekit|ratelimit)_[a-z_]+");
  private static final Pattern EXPRESSION = Pattern.compile("\"expr\": \"((?:[^\"\\\\]|\\\\.)*)\"");

  /** The labels by which panels group and filter, except for the one that Prometheus adds. */
  private static final Pattern LABELS = Pattern.compile("by \\(([a-z_, ]+)\\)|\\{([a-z_]+)=");

  @TempDir private Path folder;

  @Test
  void everyPanelQueriesExistingMetricsAndLabels() throws Exception {
    String page = metrics();
    Set<String> had = found(METRIC, page);
    assertThat(expressions()).hasSizeGreaterThan(10);
    for (String expression : expressions()) {
      assertThat(had).as(expression).containsAll(found(METRIC, expression));
      for (String label : labels(expression)) {
        assertThat(page).as(expression).containsPattern("[{,]" + label + "=\"");
      }
    }
  }

  @Test
  void everyPanelQueriesTheDatasourceThatIsSelected() throws IOException {
    String sources =
        ComposeFile.yaml(MESH.resolve("grafana/provisioning/datasources/sources.yaml")).toString();
    Set<String> uids = found(Pattern.compile("(?<=\"uid\": \")[^\"]+"), dashboard());
    uids.remove("mesh"); // the dashboard's own
    assertThat(uids).containsExactly("${datasource}");
    assertThat(sources).contains("isDefault=true", "type=prometheus", "url=http://prometheus:9090");
    assertThat(Files.readString(MESH.resolve("grafana/provisioning/dashboards/mesh.yaml")))
        .contains("path: /var/lib/grafana/dashboards");
    assertThat(ComposeFile.yaml(MESH.resolve("grafana/dashboards/mesh.json")))
        .isInstanceOf(Map.class);
  }

  private static String dashboard() throws IOException {
    return Files.readString(MESH.resolve("grafana/dashboards/mesh.json"));
  }

  private static List<String> expressions() throws IOException {
    return EXPRESSION.matcher(dashboard()).results().map(found -> found.group(1)).toList();
  }

  private static Set<String> labels(String expression) {
    Set<String> labels = new TreeSet<>();
    Matcher found = LABELS.matcher(expression);
    while (found.find()) {
      String names = found.group(1) == null ? found.group(2) : found.group(1);
      labels.addAll(List.of(names.split(", ")));
    }
    labels.remove("region");
    return labels;
  }

  private static Set<String> found(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns the metrics of a service with a region's Redis and a coordinator after a decision. */
  private String metrics() throws IOException, InterruptedException {
    try (RedisProcess store = RedisProcess.start();
        RedisProcess coordinator = RedisProcess.start();
        DemoService service =
            DemoService.begin(
                MESH.resolve("policies").toAbsolutePath().normalize(),
                List.of(
                    "--store=" + store.url(), "--region=eu", "--coordinator=" + coordinator.url()),
                Map.of("THROTTLEKIT_STORE_DEADLINE", "60s", "THROTTLEKIT_HTTP_JSON", "true"),
                folder.resolve("log"));
        HttpClient http = HttpClient.newHttpClient()) {
      int _ = service.awaitPort();
      Matcher page =
          Pattern.compile("http=(127\\.0\\.0\\.1:\\d+)")
              .matcher(Files.readString(folder.resolve("log")));
      assertThat(page.find()).isTrue();
      String address = "http://" + page.group(1);
      String request =
          "{\"domain\":\"mesh\",\"descriptors\":[{\"entries\":[{\"key\":\"service\",\"value\":\"checkout\"}]}]}";
      var decided =
          http.send(
              HttpRequest.newBuilder(URI.create(address + "/json"))
                  .POST(BodyPublishers.ofString(request))
                  .build(),
              BodyHandlers.ofString());
      assertThat(decided.body()).contains("\"OK\"");
      return http.send(
              HttpRequest.newBuilder(URI.create(address + "/metrics")).build(),
              BodyHandlers.ofString())
          .body();
    }
  }
}
