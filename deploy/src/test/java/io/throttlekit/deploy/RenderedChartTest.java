package io.throttlekit.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What Helm makes of the chart.
 *
 * <p>After a change of the chart, {@code mvn -pl deploy -am test -Dtest=RenderedChartTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dgolden=write} writes the golden files anew.
 */
@RealHelm
class RenderedChartTest {
  private static final boolean WRITE = "write".equals(System.getProperty("golden"));

  static List<String> examples() throws IOException {
    return Chart.examples();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void anExampleRendersToItsGoldenFile(String example) throws Exception {
    HelmProgram.Output lint = HelmProgram.lint(Chart.example(example));
    assertThat(lint.code()).as(lint.out() + lint.errors()).isZero();
    List<Manifest> rendered = render("--values", Chart.example(example).toString());
    if (WRITE) {
      Files.writeString(Chart.golden(example), Manifest.write(rendered));
      Files.writeString(Chart.goldenDigest(), Chart.digest() + "\n");
    }
    assertThat(Chart.golden(example)) // as a file: prints the lines that differ
        .hasContent(Manifest.write(rendered));
  }

  /** The shell removes one of two backslashes. */
  @Test
  void theDocumentedCommandInstalls() throws Exception {
    String page = Files.readString(Chart.PROJECT.resolve("docs/INSTALL.md"));
    Matcher command =
        Pattern.compile("helm install throttlekit \\S+ (.*?[^\\\\])\n", Pattern.DOTALL)
            .matcher(page);
    assertThat(command.find()).isTrue();
    String options =
        command
            .group(1)
            .replace("--namespace edge --create-namespace", "")
            .replace("\\\n", "")
            .replace("\\\\", "\\")
            .replace("=policies/", "=" + Chart.PROJECT.resolve("deploy/recipes/policies") + "/");
    assertThat(options).contains("shop.yaml").doesNotContain("\n");
    assertThat(render(options.strip().split("\\s+")))
        .anySatisfy(each -> assertThat(each.text("data", "shop.yaml")).contains("domain: shop"));
  }

  @Test
  void aChangedPolicyIsReloadedAndAChangedSettingReplacesThePods() throws Exception {
    Map<String, Object> pods = pods("--set", "policies.files.a\\.yaml=domain: a");
    assertThat(pods("--set", "policies.files.a\\.yaml=domain: b")).isEqualTo(pods);
    assertThat(pods("--set", "config.health.needs_policies=true")).isNotEqualTo(pods);
  }

  @Test
  void aRunbookIsLinkedByItsUrlOrNotAtAll() throws Exception {
    assertThat(alerts("prometheusRule.enabled=true"))
        .hasSizeGreaterThan(15)
        .noneMatch(alert -> alert.map("annotations").containsKey("runbook_url"))
        .allMatch(alert -> alert.map("annotations").containsKey("summary"));
    assertThat(
            alerts("prometheusRule.enabled=true,prometheusRule.runbookUrl=https://w.example/runs"))
        .allMatch(alert ->
            alert
                .text("annotations", "runbook_url")
                .equals("https://w.example/runs#" + alert.text("alert").toLowerCase(Locale.ROOT)));
  }

  private static List<Manifest> alerts(String values) throws Exception {
    return render("--set", values).stream()
        .filter(each -> each.kind().equals("PrometheusRule"))
        .flatMap(rule -> rule.list("spec", "groups").stream())
        .flatMap(group -> group.list("rules").stream())
        .toList();
  }

  /** Helm built as a library knows Kubernetes 1.20 only, which the chart does not support. */
  @Test
  void theHelmOfThisProjectRendersWithoutACluster() throws Exception {
    assumeThat(HelmProgram.isOfThisProject()).isTrue();
    HelmProgram.Output output =
        HelmProgram.run(List.of("template", "limits", Chart.FOLDER.toString()));
    assertThat(output.errors()).isEmpty();
    assertThat(output.code()).isZero();
  }

  @Test
  void aSettingOfTheConfigurationReplacesADefaultOfEnvoyproxyRatelimit() throws Exception {
    String values = "compatibility=envoyproxy,config.response.retry_after=true";
    assertThat(render("--set", values))
        .anySatisfy(each -> {
          Manifest config = new Manifest(Manifest.readMap(each.text("data", "config.yaml")));
          assertThat(config.text("response", "retry_after")).isEqualTo("true");
          assertThat(config.text("compatibility", "charge_rejected")).isEqualTo("true");
        });
  }

  private static Map<String, Object> pods(String... options) throws Exception {
    return render(options).stream()
        .filter(each -> each.kind().equals("Deployment"))
        .findFirst()
        .orElseThrow()
        .map("spec", "template");
  }

  private static List<Manifest> render(String... options) throws Exception {
    HelmProgram.Output output = HelmProgram.template(options);
    assertThat(output.code()).as(output.errors()).isZero();
    return Manifest.readAll(output.out());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "redis.enabled=true,store.uri=redis://r:6379 | redis.enabled starts a trial Redis, but"
            + " store.uri",
        "store.uri=redis://r:6379,store.uriSecret.name=s | set one of both",
        "federation.coordinator=redis://c:6379 | a coordinator needs federation.region",
        "federation.region=eu | federation.region needs a coordinator",
        "federation.region=eu,federation.coordinator=redis://c:6379 | a store that they share",
        "sensors.enabled=true | sensors.enabled needs sensors.tlsSecretName",
        "serviceMonitor.enabled=true,podMonitor.enabled=true | each series would exist twice",
        "autoscaling.enabled=true,autoscaling.targetCPUUtilizationPercentage=0 | autoscaling needs"
            + " a metric",
        "xds.enabled=true,policies.configMaps[0]=p | xds.enabled takes limits from the control"
            + " plane",
        "shutdown.gracePeriodSeconds=12 | set at least 25, or 0",
        "http.port=8081 | must differ",
        "metrics.port=6070 | and config.debug.port (6070) must differ",
        "autoscaling.enabled=true,autoscaling.minReplicas=20 | more than autoscaling.maxReplicas,"
            + " 10",
        "autoscaling.enabled=true,resources.requests.cpu=null | a percentage of"
            + " resources.requests.cpu",
        "strategy.rollingUpdate.maxSurge=0 | no pod could be replaced",
        "grpc.tls.requireClientCertificate=true | needs grpc.tls.secretName: without it the port"
            + " has no TLS",
        "grpc.tls.secretName=t,grpc.tls.clientSan=edge | needs grpc.tls.requireClientCertificate",
        "store.tls.clientCertificate=true | store.tls.clientCertificate needs store.tls.secretName",
        "federation.tls.clientCertificate=true | federation.tls.clientCertificate needs",
        "store.passwordSecret.name=s | set store.uri or store.uriSecret",
        "store.perSecond.uri=redis://s:6379,store.perSecond.uriSecret.name=s | both name the second"
            + " Redis",
        "store.uri=redis://r:6379,store.perSecond.passwordSecret.name=s | set store.perSecond.uri",
        "store.perSecond.uri=redis://s:6379 | store.perSecond needs a Redis",
        "store.uri=postgresql://p/l,store.perSecond.uri=redis://s:6379 | store.perSecond needs a"
            + " Redis",
        "config.store.per_second.password=x | set store.perSecond.passwordSecret",
        "service.type=NodePort | set service.headless to false",
        "prometheusRule.enabled=true,prometheusRule.disabled[0]=StoreDwn | there is no alert"
            + " StoreDwn; the alerts are EnvoyFailsOpen,",
        "config.grpc.port=9000 | config.grpc.port is made from other values of the chart: set"
            + " grpc.port",
        "config.store.password=x | set store.passwordSecret",
        "replicas=3 | additional properties 'replicas' not allowed",
        "store.url=redis://r:6379 | at '/store': additional properties 'url' not allowed",
        "store.uri=r:6379 | at '/store/uri'",
        "replicaCount=0 | at '/replicaCount': minimum: got 0, want 1",
        "image.tag= | at '/image/tag': '' does not match",
      })
  void aMistakeIsNamed(String values, String message) throws Exception {
    HelmProgram.Output output = HelmProgram.template("--set", values);
    assertThat(output.code()).isNotZero();
    assertThat(output.errors()).contains(message);
  }
}
