package io.throttlekit.descriptors.lint;

import static io.throttlekit.descriptors.policy.Descriptors.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.Descriptors;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.RandomPolicies;
import io.throttlekit.descriptors.policy.ReferenceMatcher;
import io.throttlekit.descriptors.policy.ReferenceMatcher.Branch;
import io.throttlekit.descriptors.policy.RuleSpec;
import io.throttlekit.descriptors.policy.Sharing;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.descriptors.source.Problems;
import io.throttlekit.descriptors.source.Severity;
import io.throttlekit.descriptors.source.SourceLocation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnreachableRulesTest {

  @Test
  void reportsTheWildcardThatMatchesEverythingFirst() {
    assertThat(
            find(
                key("user").value("a*").line(3).limit(1).of(),
                key("user").value("ab*").line(6).limit(2).of()))
        .containsExactly(
            new Problem(
                Severity.WARNING,
                new SourceLocation("shop.yaml", 6, 5),
                "wildcard `user_ab*` matches nothing but an entry like `user=ab*`: everything else"
                    + " it describes is taken first by `user_a*` (shop.yaml:3:5)",
                "move it before `user_a*`"));
  }

  @Test
  void reportsAWildcardThatHidesADefaultInAnyOrder() {
    assertThat(
            find(
                key("user").line(3).limit(1).of(key("path").limit(1).of()),
                key("user").value("*").line(6).limit(2).of()))
        .containsExactly(
            new Problem(
                Severity.WARNING,
                new SourceLocation("shop.yaml", 3, 5),
                "default of `user` never matches, nor what is below it: every value of that key is"
                    + " taken first by `user_*` (shop.yaml:6:5)",
                "state it in the wildcard's place, or narrow the wildcard"));
  }

  @Test
  void looksBelowADescriptorThatIsStillFoundByItsText() {
    DescriptorNode whole =
        key("a_b").line(1).of(key("c").line(2).limit(1).of(), key("c").value("*").of());
    DescriptorNode wildcard = key("a_b").value("*").line(4).limit(2).of();

    assertThat(Descriptors.match(Descriptors.book("d", whole, wildcard), "a", "b", "c", "*"))
        .isNull();
    assertThat(find(whole, wildcard))
        .extracting(Problem::message)
        .containsExactly(
            "default of `a_b` matches nothing but an entry like `a=b`: every value of that key is"
                + " taken first by `a_b_*` (shop.yaml:4:5)",
            "default of `c` never matches: every value of that key is taken first by `c_*`"
                + " (shop.yaml)");
  }

  @Test
  void descriptorsReportedAsReachableByTextMatch() {
    PolicyBook book =
        Descriptors.book(
            "d",
            key("a_b").of(key("c").limit(1).of()),
            key("a_b").value("*").limit(2).of(),
            key("a_b").value("x*").of(key("c").limit(3).of()));

    assertThat(Descriptors.match(book, "a", "b", "c", "x")).isNotNull();
    assertThat(Descriptors.match(book, "a_b", "v", "c", "x")).isNull();
    assertThat(Descriptors.match(book, "a_b", "x*", "c", "x")).isNotNull();
    assertThat(Descriptors.match(book, "a_b", "xy", "c", "x")).isNull();
  }

  @Test
  void findsHiddenDescriptorsAmongAThousandWildcards() {
    List<DescriptorNode> level = new ArrayList<>();
    for (int i = 0; i < 1_001; i++) {
      level.add(key("k" + i).value("*").line(i).of());
      level.add(key("l" + i).line(i).of());
    }
    level.add(key("k").value("*").of());
    level.add(key("k").line(5_000).of());

    assertThat(find(level)).extracting(finding -> finding.location().line()).containsExactly(5_000);
  }

  @Test
  void reportsOnceThatThereAreTooManyToCompare() {
    List<DescriptorNode> level = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      level.add(key("a-rather-long-key").value("x" + i + "-*").line(i).of());
    }
    Map<String, List<DescriptorNode>> domains = new LinkedHashMap<>();
    domains.put("d", level);
    domains.put("e", level);

    assertThat(find(domains))
        .singleElement()
        .satisfies(finding -> assertThat(finding.location().line()).isBetween(1_500, 19_000))
        .extracting(Problem::message)
        .isEqualTo(
            "the search for descriptors that never match ends here: there are too many wildcards to"
                + " compare each with each");
  }

  @Test
  void doesNotWaitForPatternsThatAreSlowToCompare() {
    String many = "a".repeat(4_000);
    List<DescriptorNode> level = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      level.add(key("k").value(i + "*" + many + "b*" + many).of());
    }
    for (int i = 0; i < 1_000; i++) {
      level.add(key("k").value("*" + many + many + i).of());
    }
    level.addFirst(key("k").value("*" + many + "b*").of());
    assertTimeoutPreemptively(Duration.ofMinutes(4), () -> assertThat(find(level)).isNotEmpty());
  }

  @Test
  void looksBelowDescriptorsThatCanBeReachedAndInEveryDomain() {
    assertThat(find(Map.of("d", hiddenAt(7), "e", hiddenAt(9))))
        .extracting(finding -> finding.location().line())
        .containsExactly(7, 9);
  }

  private static List<DescriptorNode> hiddenAt(int line) {
    DescriptorNode hidden = key("b").value("x*y").line(line).of();
    return List.of(key("a").of(key("b").value("*").line(5).of(), hidden));
  }

  @ParameterizedTest(name = "{1} behind {0}: hidden {2}")
  @CsvSource({
    "k_a*,      k_ab*,   true",
    "k_ab*,     k_a*,    false",
    "k_*,       k_*x,    true",
    "*,         k_a*b*c, true",
    "k_*b*,     k_a*b*c, true",
    "k_a*b,     k_a*c*b, true",
    "k_a*c*b,   k_a*b,   false",
    "k_*a,      k_a*,    false",
    "k*,        k_*,     true",
    "k_*,       k*,      false",
    "*_*,       k*,      true",
    "*_*,       *,       true",
    "k*_*,      k*,      true",
    "k_a*,      k_b*,    false",
    "k_**,      k_*,     true",
  })
  void decidesWhetherOnePatternCoversAnother(String earlier, String later, boolean hidden) {
    assertThat(find(key(earlier).of(), key(later).of())).hasSize(hidden ? 1 : 0);
  }

  @Test
  void findsTwoWildcardsThatTogetherCoverAThird() {
    DescriptorNode left = key("a*_*b*c").line(1).of();
    DescriptorNode right = key("a*b*_*c").line(2).of();
    DescriptorNode third = key("a*b*c").line(3).of();

    assertThat(find(left, right, third))
        .extracting(Problem::message)
        .containsExactly(
            "wildcard `a*b*c` never matches: everything it describes is taken first by"
                + " `a*_*b*c` (shop.yaml:1:5) and `a*b*_*c` (shop.yaml:2:5)");
    assertThat(find(left, third)).isEmpty();
    assertThat(find(right, third)).isEmpty();
  }

  @Test
  void doesNotWarnOfAnExactValueOrAReachableDefault() {
    assertThat(
            find(
                key("user").value("*").of(),
                key("user").value("bob").of(),
                key("path").of(),
                key("path").value("/*").of()))
        .isEmpty();
  }

  /**
   * Tests that no request finds a flagged descriptor, unless its own text is literally that of the
   * descriptor; and that a descriptor that is not flagged is found by the request made for it.
   */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {7, 20_261_121})
  void flagsExactlyTheDescriptorsThatNoRequestMatches(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    RandomPolicies policies = new RandomPolicies(random);
    int flagged = 0;
    int found = 0;
    for (int p = 0; p < 4_000; p++) {
      List<DescriptorNode> level = policies.policy("d").descriptors();
      Map<String, Integer> positions = new HashMap<>();
      Set<Integer> hidden = new HashSet<>();
      List<DescriptorNode> named = new ArrayList<>();
      for (int i = 0; i < level.size(); i++) {
        DescriptorNode d = level.get(i);
        positions.put("#" + i, i);
        named.add(named(d, "#" + i));
      }
      find(flat(level)).forEach(problem -> hidden.add(problem.location().line() - 1));
      flagged += hidden.size();
      Set<Integer> reached = new HashSet<>();
      RandomPolicies.Policy policy = new RandomPolicies.Policy("d", named);
      for (int r = 0; r < 15; r++) {
        String[] request = policies.request(policy);
        if (request.length >= 2) {
          reach(named, request[0], request[1], positions, reached);
        }
      }
      for (DescriptorNode d : level) {
        probes(d).forEach(text -> reach(named, text[0], text[1], positions, reached));
      }
      found += reached.size();
      assertThat(hidden).as(policy::yaml).allSatisfy(i -> assertThat(reached).doesNotContain(i));
      Set<Integer> all = new HashSet<>(reached);
      all.addAll(hidden);
      for (int i = 0; i < level.size(); i++) {
        DescriptorNode d = level.get(i);
        boolean exactOnly = !d.wildcard() && !d.value().isEmpty();
        assertThat(exactOnly || all.contains(i))
            .as(() -> d.composite() + " of\n" + policy)
            .isTrue();
      }
    }
    assertThat(flagged).isGreaterThan(1_000);
    assertThat(found).isGreaterThan(1_000);
  }

  /** Returns entries made to find the descriptor if any can: new letters for the stars. */
  private static List<String[]> probes(DescriptorNode descriptor) {
    String text = descriptor.composite();
    if (!descriptor.wildcard()) {
      return List.<String[]>of(new String[] {descriptor.key(), "§"});
    }
    List<String[]> probes = new ArrayList<>();
    if (text.contains("_")) {
      probes.add(text.replace("*", "§").split("_", 2));
    }
    for (int at = text.indexOf('*'); at >= 0; at = text.indexOf('*', at + 1)) {
      String probe = text.substring(0, at) + "§_§" + text.substring(at + 1);
      probes.add(probe.replace("*", "§").split("_", 2));
    }
    return probes;
  }

  private static void reach(
      List<DescriptorNode> level,
      String key,
      String value,
      Map<String, Integer> positions,
      Set<Integer> reached) {
    ReferenceMatcher.Walk walk = ReferenceMatcher.match(level, key, value);
    Integer position = walk.ruleName() == null ? null : positions.get(walk.ruleName());
    if (position == null) {
      return;
    }
    Branch asWritten = level.get(position).wildcard() ? Branch.WILDCARD : Branch.DEFAULT;
    if (walk.branches().getFirst() == asWritten) {
      reached.add(position);
    }
  }

  /** Returns the descriptors without children, each on the line of its index + 1. */
  private static List<DescriptorNode> flat(List<DescriptorNode> level) {
    List<DescriptorNode> flat = new ArrayList<>();
    for (DescriptorNode d : level) {
      flat.add(key(d.key()).value(d.value()).line(flat.size() + 1).of());
    }
    return flat;
  }

  private static DescriptorNode named(DescriptorNode d, String name) {
    RuleSpec rule =
        new RuleSpec(
            d.location(),
            List.of(),
            name,
            List.of(),
            false,
            false,
            Sharing.DEFAULT,
            null,
            null,
            null,
            null);
    return new DescriptorNode(
        d.location(), d.key(), d.value(), false, false, false, rule, d.children());
  }

  private static List<Problem> find(DescriptorNode... descriptors) {
    return find(Arrays.asList(descriptors));
  }

  private static List<Problem> find(List<DescriptorNode> level) {
    return find(Map.of("d", level));
  }

  private static List<Problem> find(Map<String, List<DescriptorNode>> domains) {
    Problems problems = new Problems();
    UnreachableRules.check(domains, problems);
    return problems.sorted(Map.of());
  }
}
