package io.throttlekit.service.xds;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import io.throttlekit.service.Logged;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A mistake affects only what has it. */
class PartialFailureTest {
  private static final String GOOD = "rate_limit { unit: HOUR requests_per_unit: %d } ";
  private static final String BAD = "rate_limit { unit: 77 requests_per_unit: %d } ";

  private final ControlPlaneFixture service = new ControlPlaneFixture();

  private static String domain(String name, String descriptors) {
    return "name: '%s' domain: '%s' %s".formatted(name, name, descriptors);
  }

  private static String descriptor(String key, String fields, int limit) {
    return "descriptors { key: '%s' %s } ".formatted(key, fields.formatted(limit));
  }

  @Test
  void aBadDescriptorKeepsItsLastGoodStateAndAllOthersTakeEffect() {
    service.receiveDomain(
        descriptor("a", GOOD, 1) + descriptor("b", GOOD, 1) + descriptor("c", GOOD, 1));
    String answer =
        service.receiveDomain(
            descriptor("a", GOOD, 2) + descriptor("b", BAD, 2) + descriptor("c", GOOD, 2));
    assertThat(service.rules())
        .containsExactly(
            "a: 2 per hour (fixed_window)",
            "b: 1 per hour (fixed_window)",
            "c: 2 per hour (fixed_window)");
    assertThat(answer).startsWith("1 error: xds d: b: `77` is not a value of `unit` (allowed: ");
    assertThat(service.rejectedParts()).containsExactly("xds d: b: its last good state remains");
    assertThat(service.store.status().good()).isFalse();
    assertThat(service.store.status().generation()).isEqualTo(2);
    assertThat(service.loads).containsExactly(true, false);
  }

  @Test
  void aBadDescriptorWithoutALastGoodStateHasNoEffectAndThoseNestedInItRemain() {
    String nested = descriptor("n", GOOD, 3);
    service.receiveDomain(descriptor("a", BAD + nested, 1) + descriptor("b", BAD, 1));
    assertThat(service.rules()).containsExactly("a.n: 3 per hour (fixed_window)");
    assertThat(service.rejectedParts())
        .containsExactly("xds d: a: it has no effect", "xds d: b: it has no effect");
  }

  @Test
  void aBadNestedDescriptorDoesNotAffectThoseAroundIt() {
    service.receiveDomain(descriptor("a", GOOD + descriptor("n", GOOD, 1), 1));
    service.receiveDomain(
        descriptor("a", GOOD + descriptor("n", BAD, 2) + descriptor("m", GOOD, 2), 2));
    assertThat(service.rules())
        .containsExactly(
            "a: 2 per hour (fixed_window)",
            "a.n: 1 per hour (fixed_window)",
            "a.m: 2 per hour (fixed_window)");
  }

  @Test
  void aLastGoodStateEndsWhenTheDescriptorIsNotSentAnyMore() {
    service.receiveDomain(descriptor("a", GOOD, 1) + descriptor("b", GOOD, 1));
    service.receiveDomain(descriptor("a", GOOD, 1) + descriptor("b", BAD, 2));
    service.receiveDomain(descriptor("a", GOOD, 1));
    assertThat(service.rules()).containsExactly("a: 1 per hour (fixed_window)");
    service.receiveDomain(descriptor("a", GOOD, 1) + descriptor("b", BAD, 2));
    assertThat(service.rules()).containsExactly("a: 1 per hour (fixed_window)");
  }

  @Test
  void aCorrectedDescriptorTakesEffect() {
    service.receiveDomain(descriptor("a", BAD, 1));
    assertThat(service.receiveDomain(descriptor("a", GOOD, 4))).isEmpty();
    assertThat(service.rules()).containsExactly("a: 4 per hour (fixed_window)");
    assertThat(service.status().rejectedParts()).isEmpty();
    assertThat(service.store.status().good()).isTrue();
  }

  @Test
  void theSameMistakesAreAnsweredAlikeWithoutAnotherLoad() {
    String first = service.receiveDomain(descriptor("a", BAD, 1));
    Object book = service.book();
    assertThat(service.receiveDomain(descriptor("a", BAD, 1))).isEqualTo(first).isNotEmpty();
    assertThat(service.book()).isSameAs(book);
    assertThat(service.status().rejected()).isEqualTo(2);
  }

  @Test
  void whatAFaultRejectedIsTriedAgainWhenItIsRepeated() {
    ControlPlaneFixture faulty = new ControlPlaneFixture(null, null, 1);
    assertThat(faulty.receiveDomain(descriptor("a", GOOD, 1))).contains("not of the policies");
    assertThat(faulty.receiveDomain(descriptor("a", GOOD, 1))).isEmpty();
    assertThat(faulty.store.status().good()).isTrue();
  }

  @Test
  void aVersionIsShownOnOneShortLine() {
    service.receive("1\n" + "x".repeat(100_000));
    assertThat(service.status().version()).startsWith("1\uFFFDxx").hasSize(100);
  }

  @Test
  void aDescriptorWithoutAKeyIsLeftOut() {
    String answer = service.receiveDomain(descriptor("", GOOD, 1) + descriptor("b", GOOD, 2));
    assertThat(answer).contains("the descriptor has no key");
    assertThat(service.rules()).containsExactly("b: 2 per hour (fixed_window)");
  }

  @Test
  void ofTwoKeysWithOneTextTheFirstTakesEffect() {
    String answer =
        service.receiveDomain(
            descriptor("a_b", GOOD, 1) + descriptor("a", "value: 'b' " + GOOD, 2));
    assertThat(answer).contains("xds d: a=b: the descriptor `a_b` has the same text as the one at");
    assertThat(service.rules()).containsExactly("a_b: 1 per hour (fixed_window)");
  }

  @Test
  void aDomainThatCannotBeReadKeepsItsLastGoodState() {
    service.receive(
        "1", domain("d", descriptor("a", GOOD, 1)), domain("e", descriptor("a", GOOD, 1)));
    Any readable = ControlPlaneFixture.resource(domain("d", descriptor("a", GOOD, 2)));
    // Field 3 of the domain e, in which a text is not UTF-8.
    ByteString broken =
        ByteString.copyFrom(new byte[] {0x12, 1, 'e', 0x1a, 3, 0x0a, 1, (byte) 0xff});
    Any unreadable = readable.toBuilder().setValue(broken).build();
    String answer = service.receive("2", List.of(unreadable, readable));
    assertThat(answer).startsWith("1 error: xds e: the resource cannot be read: ");
    assertThat(service.book().domains()).containsExactly("d", "e");
    assertThat(service.rules())
        .containsExactly("a: 2 per hour (fixed_window)", "a: 1 per hour (fixed_window)");
    assertThat(service.rejectedParts()).containsExactly("xds e: its last good state remains");
  }

  @Test
  void whileAResourceIsNotEvenSplitMissingDomainsRemain() {
    service.receive(
        "1", domain("d", descriptor("a", GOOD, 1)), domain("e", descriptor("a", GOOD, 1)));
    Any readable = ControlPlaneFixture.resource(domain("d", descriptor("a", GOOD, 2)));
    Any noise = readable.toBuilder().setValue(ByteString.copyFrom(new byte[] {7, 7, 7})).build();
    assertThat(service.receive("2", List.of(noise, readable))).isNotEmpty();
    assertThat(service.book().domains()).containsExactly("d", "e");
    assertThat(service.receive("3", List.of(readable))).isEmpty();
    assertThat(service.book().domains()).containsExactly("d");
  }

  @Test
  void nestedDescriptorsThatAreAllBadNeedNoMoreAttemptsThanOne() {
    String bad = "rate_limit { unit: HOUR requests_per_unit: 1 name: 'x' replaces { name: 'x' } } ";
    String nested = "";
    for (int depth = 12; depth > 0; depth--) {
      nested = "descriptors { key: 'k" + depth + "' " + bad + nested + "} ";
    }
    assertThat(service.receiveDomain(nested + descriptor("a", GOOD, 1))).startsWith("12 errors: ");
    assertThat(service.rules()).containsExactly("a: 1 per hour (fixed_window)");
  }

  @Test
  void aResourceWithoutADomainDoesNotAffectTheOthers() {
    String answer = service.receive("1", "name: 'r'", domain("d", descriptor("a", GOOD, 1)));
    assertThat(answer).isEqualTo("1 error: xds resource `r`: the resource names no domain");
    assertThat(service.rules()).hasSize(1);
  }

  @Test
  void everyMistakeIsNamedInAnAnswerOfLimitedLength() {
    String some =
        IntStream.range(0, 3)
            .mapToObj(i -> descriptor("k" + i, BAD, i))
            .collect(Collectors.joining());
    assertThat(service.receiveDomain(some)).contains("3 errors: ", "k0: ", "k1: ", "k2: ");
    String many =
        IntStream.range(0, 2_500)
            .mapToObj(i -> descriptor("k" + i, BAD, i))
            .collect(Collectors.joining());
    try (Logged logged = Logged.by(XdsPolicies.class)) {
      String answer = service.receiveDomain(many + descriptor("good", GOOD, 1));
      assertThat(answer).hasSizeLessThan(4_100).startsWith("250").contains("; and ");
      assertThat(logged.lines()).hasSizeLessThan(30);
      assertThat(logged.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(5_000));
    }
    assertThat(service.rules()).containsExactly("good: 1 per hour (fixed_window)");
    assertThat(service.store.status().problems()).hasSize(1_000);
  }

  @Test
  void warningsDoNotHideMistakes() {
    String warned =
        IntStream.range(0, 1_100)
            .mapToObj(i -> descriptor("w" + i, GOOD, i) + descriptor("w" + i, GOOD, i + 1))
            .collect(Collectors.joining());
    String wrong =
        IntStream.range(0, 20)
            .mapToObj(i -> descriptor("k" + i, BAD, i))
            .collect(Collectors.joining());
    assertThat(service.receiveDomain(warned + wrong)).startsWith("20 errors: ");
    assertThat(service.rules()).hasSize(1_100);
  }

  @Test
  @Tag("thorough") // seconds, for reading thousands of descriptors several times
  void tooManyMistakesLeaveAllAsItWas() {
    service.receiveDomain(descriptor("a", GOOD, 1));
    String many =
        IntStream.range(0, 6_500)
            .mapToObj(i -> descriptor("k" + i, BAD, i))
            .collect(Collectors.joining());
    assertThat(service.receiveDomain(many)).isNotEmpty();
    assertThat(service.rules()).containsExactly("a: 1 per hour (fixed_window)");
    assertThat(service.rejectedParts())
        .containsExactly("all that was sent: there are too many mistakes");
  }

  @Test
  void descriptorsNestedTooDeeplyAreLeftOut() {
    String nested = GOOD.formatted(1);
    for (int depth = 70; depth > 0; depth--) {
      nested = "descriptors { key: 'k" + depth + "' " + nested + "}";
    }
    assertThat(service.receiveDomain(nested + descriptor("a", GOOD, 2)))
        .contains("k64: nested too deeply (at most 64 levels of descriptors)");
    assertThat(service.rules()).containsExactly("a: 2 per hour (fixed_window)");
  }
}
