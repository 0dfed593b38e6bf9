package io.throttlekit.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubernetesModelsTest {
  private static final String DEPLOYMENT =
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: x}
      spec:
        replicas: 2
        selector: {matchLabels: {app: x}}
        template:
          spec:
            containers:
              - {name: x, ports: [{name: http, containerPort: 8080}]}
      ---
      apiVersion: monitoring.coreos.com/v1
      kind: ServiceMonitor
      metadata: {name: x}
      spec:
        selector: {matchLabels: {app: x}}
        endpoints: [{port: http, interval: 5s}]
      """;

  @ParameterizedTest
  @CsvSource({
    "containerPort: 8080, containerPort: 8080, ''",
    "containerPort, containerPrt, containerPrt",
    "'  selector: {matchLabels: {app: x}}\n  template', '  template', selector",
    "replicas: 2, replicas: two, two",
    "kind: Deployment, kind: Deploy, unknown type apps/v1 Deploy",
    "interval: 5s, intervall: 5s, intervall",
    "'endpoints: [{port: http, interval: 5s}]', endpoints: {}, endpoints",
  })
  void aMistakeIsFound(String from, String to, String mistake) {
    String changed = DEPLOYMENT.replace(from, to);
    assertThat(changed.equals(DEPLOYMENT)).isEqualTo(mistake.isEmpty());
    StringBuilder found = new StringBuilder();
    for (Manifest manifest : Manifest.readAll(changed)) {
      String each = new KubernetesModels().mistake(manifest);
      found.append(each == null ? "" : each);
    }
    if (mistake.isEmpty()) {
      assertThat(found).isEmpty();
    } else {
      assertThat(found).contains(mistake);
    }
  }
}
