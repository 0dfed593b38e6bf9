package io.throttlekit.service.identity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityTest {
  @ParameterizedTest
  @CsvSource({
    "edge.mesh.local, edge.mesh.local, false, true",
    "edge.mesh.local, EDGE.mesh.local, false, true",
    "edge.mesh.local, a.edge.mesh.local, false, false",
    "*.mesh.local, edge.mesh.local, false, true",
    "*.mesh.local, a.edge.Mesh.local, false, true",
    "*.mesh.local, mesh.local, false, false",
    "*.mesh.local, .mesh.local, false, false",
    "*.mesh.local, evilmesh.local, false, false",
    "*.mesh.local, edge.mesh.local, true, false",
    "spiffe://mesh/edge, spiffe://mesh/edge, true, true",
    "spiffe://mesh/edge, spiffe://mesh/edge/1, true, false",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/1, true, true",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/a/b, true, true",
    "spiffe://mesh/edge/*, spiffe://mesh/edges/1, true, false",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/1, false, false",
  })
  void matchesNames(String pattern, String name, boolean uri, boolean meant) {
    Identity identity = Objects.requireNonNull(Identity.parse(pattern));
    assertThat(identity.includes(name, uri)).isEqualTo(meant);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "*",
        "*.",
        "a.*",
        "*edge.local",
        "a b",
        "spiffe://*",
        "spiffe://mesh/*/x",
        "https://a/*",
      })
  void tooBroadPatternsAreRejected(String text) {
    assertThat(Identity.parse(text)).isNull();
  }

  @Test
  void aNodeIdMatchesANameItsShortFormOrASubdomain() {
    CertificateNames names =
        new CertificateNames(List.of("edge.mesh.local"), List.of("spiffe://mesh/ns/shop/cart"));
    assertThat(
            List.of(
                "edge.mesh.local",
                "edge",
                "edge/7",
                "edge.mesh.local/7",
                "spiffe://mesh/ns/shop/cart",
                "cart",
                "cart/a"))
        .allMatch(names::allow);
    assertThat(List.of("", "edg", "edge-7", "edge.mesh", "edges/1", "shop", "spiffe://mesh", "/"))
        .noneMatch(names::allow);
    assertThat(new CertificateNames(List.of(".a"), List.of("b/")).allow("/x")).isFalse();
  }
}
