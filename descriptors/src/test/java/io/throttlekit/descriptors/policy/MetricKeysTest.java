package io.throttlekit.descriptors.policy;

import static io.throttlekit.descriptors.policy.Descriptors.book;
import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests metric keys and charged entries against those of envoyproxy/ratelimit for the same
 * policies.
 */
class MetricKeysTest {
  private final PolicyBook book =
      book(
          "d",
          key("route")
              .valueToMetric()
              .of(key("http_method").valueToMetric().of(key("subject_id").limit(60).of())),
          key("user").value("u-*").valueToMetric().limit(1).of(),
          key("plain").value("p-*").limit(1).of(),
          key("det").detailed().limit(1).of(),
          key("files").value("files/*").share().limit(1).of(),
          key("route").value("api/*").share().valueToMetric().of(key("method").limit(1).of()),
          key("service").value("svc/*").share().of(key("endpoint").detailed().limit(1).of()),
          key("path")
              .value("path/*")
              .share()
              .of(key("file").value("file/*").of(key("type").limit(1).of())),
          key("midroute").value("/api*v2").share().valueToMetric().limit(1).of(),
          key("nestedWild").value("val1").of(key("wild").value("goo*").limit(1).of()),
          key("wd").value("w*").detailed().limit(1).of(),
          key("any").value("x").valueToMetric().limit(1).of());

  @ParameterizedTest(name = "{0} is {1}, charged as {2}")
  @CsvSource({
    "route=draw|http_method=GET|subject_id=123, route_draw.http_method_GET.subject_id, same, true",
    "route=|http_method=GET|subject_id=123, route.http_method_GET.subject_id, same, true",
    "user=u-7, user_u-7, same, true",
    "plain=p-7, plain_p-*, same, false",
    "det=x, det_x, same, true",
    "det=, det_, same, true",
    "files=files/a, files_files/*, files=files/*, false",
    "route=api/v1|method=GET, route_api/*.method, route=api/*|method=GET, true",
    "service=svc/x|endpoint=e1, service_svc/*.endpoint_e1, service=svc/*|endpoint=e1, true",
    "path=path/a|file=file/b|type=t, path_path/*.file_file/*.type,"
        + " path=path/*|file=file/b|type=t, false",
    "midroute=/api/x/v2, midroute_/api*v2, midroute=/api*v2, true",
    "nestedWild=val1|wild=goo1, nestedWild_val1.wild_goo*, same, false",
    "wd=w1, wd_w1, same, true",
    "any=x, any_x, same, true",
  })
  void equalThoseOfEnvoyproxyRatelimit(
      String request, String metricKeys, String charged, boolean dynamic) {
    String[] entries = entries(request);
    Rule rule = Objects.requireNonNull(Descriptors.match(book, entries));

    assertThat(String.join(".", rule.metricKeys(entries))).isEqualTo(metricKeys);
    assertThat(rule.chargedEntries(entries))
        .isEqualTo(charged.equals("same") ? entries : entries(charged));
    assertThat(rule.dynamicMetricKeys()).isEqualTo(dynamic);
  }

  private static String[] entries(String text) {
    return text.split("[=|]", -1);
  }
}
