package io.throttlekit.service.identity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
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
    "spiffe://mesh/edge/*, spiffe://mesh/edge/../admin, true, false",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/%2E%2e/admin, true, false",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/./1, true, false",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/a/.., true, false",
    "spiffe://mesh/edge/*, spiffe://mesh/edge/..a/v1.2, true, true",
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
        "spiffe://mesh/edge/../*",
        "spiffe://mesh/./edge",
      })
  void tooBroadPatternsAreRejected(String text) {
    assertThat(Identity.parse(text)).isNull();
  }

  @Test
  void aNodeIdIsAWholeNameOrBeginsWithOne() {
    CertificateNames names =
        new CertificateNames(List.of("edge.mesh.local"), List.of("spiffe://mesh/ns/shop/sa/cart"));
    assertThat(
            List.of(
                "edge.mesh.local",
                "edge.mesh.local/7",
                "edge.mesh.local/7/a",
                "spiffe://mesh/ns/shop/sa/cart",
                "spiffe://mesh/ns/shop/sa/cart#7"))
        .allMatch(names::allow);
    assertThat(
            List.of(
                "",
                "edge",
                "edge/7",
                "edge.mesh",
                "edge.mesh.local-7",
                "edge.mesh.local#7",
                "cart",
                "cart/a",
                "spiffe://mesh/ns/shop/sa/cart/7",
                "spiffe://mesh/ns/shop/sa/carts",
                "spiffe://mesh/ns/shop",
                "/"))
        .noneMatch(names::allow);
  }

  @Test
  void certificatesWithDifferentNamesShareNoNodeId() {
    List<CertificateNames> certificates =
        Stream.of(
                "spiffe://mesh/ns/a/sa/default",
                "spiffe://mesh/ns/b/sa/default",
                "spiffe://other/ns/a/sa/default",
                "spiffe://mesh/ns/a",
                "spiffe://mesh/ns/a/sa")
            .map(uri -> new CertificateNames(List.of(), List.of(uri)))
            .toList();
    for (CertificateNames owner : certificates) {
      String id = owner.uris().getFirst();
      for (String used : List.of(id, id + "#7", id + "#7/sa/default")) {
        assertThat(certificates.stream().filter(each -> each.allow(used)))
            .as(used)
            .containsExactly(owner);
      }
    }
  }

  @Test
  void dotSegmentsAndNamesThatContainTheSeparatorAllowNothing() {
    CertificateNames names =
        new CertificateNames(
            List.of("edge.local", "edge.local/7"),
            List.of("spiffe://mesh/edge", "spiffe://mesh/edge/../admin", "spiffe://mesh/a#b"));
    assertThat(
            List.of(
                "edge.local/../admin",
                "edge.local/%2e%2E/admin",
                "edge.local/.",
                "spiffe://mesh/edge#/../a",
                "spiffe://mesh/edge/../admin",
                "spiffe://mesh/edge/../admin#1",
                "spiffe://mesh/a#b",
                "spiffe://mesh/a#b#1"))
        .noneMatch(names::allow);
    assertThat(names.allow("edge.local/7")).isTrue();
  }
}
