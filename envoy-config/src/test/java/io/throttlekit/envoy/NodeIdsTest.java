package io.throttlekit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeIdsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"a", "sidecar~10.1.1.1~shop-1.default~default.svc.cluster.local", "käse \u20ac"})
  void printableCharactersAreAccepted(String id) {
    assertThat(NodeIds.isUsable(id)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a\n", "\r", "a\tb", "\u001b[31m", "\u007f", "\u0085", "\u2028", "\u2029"})
  void charactersThatForgeLogLinesAreRejected(String id) {
    assertThat(NodeIds.isUsable(id)).isFalse();
  }

  @Test
  void aLongIdIsRejected() {
    assertThat(NodeIds.isUsable("x".repeat(256))).isTrue();
    assertThat(NodeIds.isUsable("x".repeat(257))).isFalse();
  }
}
