package io.throttlekit.service.xds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.throttlekit.envoy.ratelimit.RateLimitConfig;
import io.throttlekit.envoy.ratelimit.RateLimitDescriptor;
import io.throttlekit.envoy.ratelimit.RateLimitPolicy;
import io.throttlekit.envoy.ratelimit.RateLimitReplace;
import io.throttlekit.envoy.ratelimit.RateLimitUnit;
import io.throttlekit.service.Logged;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a control plane sends takes no more memory, time and log than is there. */
class HostileResponsesTest {
  private static final int MAX_PARTS = 1_000;
  private static final Duration LONG = Duration.ofMinutes(5); // all take milliseconds

  private final ControlPlaneFixture service = new ControlPlaneFixture(null, null, MAX_PARTS);

  private static RateLimitDescriptor.Builder descriptor(String key, String value) {
    return RateLimitDescriptor.newBuilder()
        .setKey(key)
        .setValue(value)
        .setRateLimit(
            RateLimitPolicy.newBuilder().setUnit(RateLimitUnit.HOUR).setRequestsPerUnit(5));
  }

  private static Any domain(String name, Iterable<RateLimitDescriptor> descriptors) {
    return Any.pack(
        RateLimitConfig.newBuilder()
            .setName(name)
            .setDomain(name)
            .addAllDescriptors(descriptors)
            .build());
  }

  private static Any good() {
    return domain("shop", List.of(descriptor("user", "").build()));
  }

  private static String text(char c, int length) {
    return String.valueOf(c).repeat(length);
  }

  /** Returns one of 2^17 texts with the same hash. */
  private static String colliding(int number) {
    StringBuilder text = new StringBuilder();
    for (int bit = 0; bit < 17; bit++) {
      text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return text.toString();
  }

  @Test
  void aResponseWithMorePartsThanFitIsNotReadAndTheLastGoodRulesRemain() {
    service.receive("1", List.of(good()));
    RateLimitDescriptor.Builder replaces = descriptor("a", "");
    replaces
        .getRateLimitBuilder()
        .addAllReplaces(Collections.nCopies(MAX_PARTS, RateLimitReplace.getDefaultInstance()));
    RateLimitDescriptor unknown =
        descriptor("a", "")
            .setUnknownFields(
                UnknownFieldSet.newBuilder().addField(100, varints(MAX_PARTS)).build())
            .build();
    List<List<Any>> hostile =
        List.of(
            Collections.nCopies(MAX_PARTS + 1, Any.getDefaultInstance()),
            List.of(
                domain(
                    "d", Collections.nCopies(MAX_PARTS, RateLimitDescriptor.getDefaultInstance()))),
            List.of(domain("d", List.of(replaces.build()))),
            List.of(domain("d", List.of(unknown))));
    for (List<Any> response : hostile) {
      assertThat(service.receive("2", response))
          .isEqualTo(
              "1 error: xds: the policies have more than 1000 resources, descriptors and other"
                  + " parts (send fewer, or give this process more memory)");
      assertThat(service.rules()).containsExactly("user: 5 per hour (fixed_window)");
      assertThat(service.store.status().good()).isFalse();
      assertThat(service.rejectedParts()).containsExactly("all that was sent: it is too large");
    }
    assertThat(service.status().rejected()).isEqualTo(hostile.size());
    assertThat(service.receive("3", List.of(good()))).isEmpty();
    assertThat(service.store.status().good()).isTrue();
    assertThat(service.rejectedParts()).isEmpty();
  }

  private static UnknownFieldSet.Field varints(int count) {
    UnknownFieldSet.Field.Builder field = UnknownFieldSet.Field.newBuilder();
    for (int i = 0; i < count; i++) {
      field.addVarint(1);
    }
    return field.build();
  }

  @Test
  void aBrokenResourceDoesNotEndTheCountOfParts() {
    Any broken = good().toBuilder().setValue(ByteString.copyFrom(new byte[] {0x1a, 9, 1})).build();
    List<Any> resources = new ArrayList<>(List.of(broken));
    resources.addAll(Collections.nCopies(MAX_PARTS, good()));
    assertThat(service.receive("1", resources)).contains("more than 1000");
  }

  @Test
  void savedPoliciesThatDoNotFitAreIgnored(@TempDir Path folder) {
    List<RateLimitDescriptor> many =
        Collections.nCopies(60, descriptor("a", "").build()).stream().toList();
    new ControlPlaneFixture(folder, null, MAX_PARTS).receive("1", List.of(domain("d", many)));
    try (Logged logged = Logged.by(XdsPolicies.class)) {
      assertThat(new ControlPlaneFixture(folder, null, 1).store.book()).isNull();
      assertThat(logged.lines()).singleElement().asString().contains("more than 1 resources");
    }
  }

  @Test
  void aLongDomainIsRejectedAloneAndInAShortTime() {
    List<RateLimitDescriptor> some =
        Collections.nCopies(400, RateLimitDescriptor.newBuilder().setKey("k").build());
    assertTimeoutPreemptively(
        LONG,
        () ->
            assertThat(service.receive("1", List.of(domain(text('d', 1 << 20), some), good())))
                .startsWith(
                    "1 error: xds " + text('d', 120) + "…: the resource has a domain of more")
                .hasSizeLessThan(300));
    assertThat(service.rules()).containsExactly("user: 5 per hour (fixed_window)");
  }

  @Test
  void aDescriptorWithLongTextsIsRejectedWithThoseNestedInIt() {
    RateLimitDescriptor.Builder parent = descriptor(text('k', 1 << 20), "");
    for (int i = 0; i < 400; i++) {
      parent.addDescriptors(descriptor("n", "v" + i));
    }
    String answer =
        service.receive(
            "1", List.of(domain("d", List.of(parent.build(), descriptor("b", "").build()))));
    assertThat(answer)
        .startsWith("1 error: ")
        .contains("the keys and values that lead to it are too long (at most 16384 characters");
    assertThat(service.rules()).containsExactly("b: 5 per hour (fixed_window)");
  }

  @Test
  void twentyThousandRulesAreBelowTheBoundOfAContainerOf512MiB() {
    int bound = 70_000; // as docs/SECURITY.md has it
    List<RateLimitDescriptor> routes = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) { // each in a descriptor of its own, as Envoy Gateway does
      routes.add(
          RateLimitDescriptor.newBuilder()
              .setKey("route" + i)
              .setValue("route" + i)
              .addDescriptors(descriptor("rule-0-match-0", "rule-0-match-0"))
              .build());
    }
    assertThat(SentSize.of(List.of(domain("d", routes)), bound)).isEqualTo(60_001);
  }

  @Test
  void keysAndValuesOfOneHashAreFoundInAShortTime() {
    ControlPlaneFixture large = new ControlPlaneFixture(null, null, 100_000);
    List<RateLimitDescriptor> many = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) { // minutes, if they are compared with each other
      many.add(RateLimitDescriptor.newBuilder().setKey("k").setValue(colliding(i)).build());
    }
    assertTimeoutPreemptively(LONG, () -> large.receive("1", List.of(domain("d", many), good())));
    assertThat(large.rules()).containsExactly("user: 5 per hour (fixed_window)");
  }

  @Test
  void ofOneKeyAndValueThereAreAtMostAHundredDescriptors() {
    List<RateLimitDescriptor> same = new ArrayList<>();
    for (int i = 0; i < 101; i++) {
      RateLimitDescriptor.Builder next = descriptor("a", "");
      next.getRateLimitBuilder().setRequestsPerUnit(200 - i);
      same.add(next.build());
    }
    assertThat(service.receive("1", List.of(domain("d", same.subList(0, 100))))).isEmpty();
    assertThat(service.rules()).containsExactly("a: 101 per hour (fixed_window)");
    assertThat(service.receive("2", List.of(domain("d", same))))
        .isEqualTo(
            "1 error: xds d: a: too many descriptors of this key and value"
                + " (at most 100 beside each other)");
    assertThat(service.rules()).containsExactly("a: 101 per hour (fixed_window)");
  }

  @Test
  void policiesThatChangeAllTheTimeAreLoggedTenTimesAMinute() {
    try (Logged logged = Logged.by(XdsPolicies.class)) {
      for (int i = 0; i < 100; i++) {
        service.receive(
            "v" + i,
            List.of(
                domain("d", List.of(descriptor("k" + i, "").build())), Any.getDefaultInstance()));
      }
      assertThat(logged.lines().stream().filter(line -> line.contains("policies loaded over xDS")))
          .hasSize(10);
      assertThat(logged.lines()).hasSizeLessThan(40);
      service.time.advance(60_000);
      service.receive("last", List.of(good()));
      assertThat(logged.lines())
          .last()
          .asString()
          .contains("policies loaded over xDS (version: last");
    }
    assertThat(service.status().version()).isEqualTo("last");
  }
}
