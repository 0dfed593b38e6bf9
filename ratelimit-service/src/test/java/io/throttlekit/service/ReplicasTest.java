package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplicasTest {
  private static final String KUBERNETES = "KUBERNETES_SERVICE_HOST";
  private final String process = "-" + ProcessHandle.current().pid();

  @Test
  void theConfiguredIdIsUsed() {
    assertThat(Replicas.nodeId("mine", Map.of("HOSTNAME", "pod", KUBERNETES, "10.0.0.1")))
        .isEqualTo("mine");
  }

  @Test
  void inKubernetesItIsTheNameOfThePod() {
    assertThat(Replicas.nodeId("", Map.of("HOSTNAME", "pod", KUBERNETES, "10.0.0.1")))
        .isEqualTo("pod");
  }

  @Test
  void elsewhereItIsTheHostAndTheProcess() {
    assertThat(Replicas.nodeId("", Map.of("HOSTNAME", "host"))).isEqualTo("host" + process);
    assertThat(Replicas.nodeId("", Map.of(KUBERNETES, "10.0.0.1")))
        .endsWith(process)
        .hasSizeGreaterThan(process.length());
  }
}
