package io.throttlekit.service.telemetry.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.prometheus.metrics.model.snapshots.Labels;
import io.throttlekit.service.telemetry.mapping.StatsdMapping.Result;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MappingFileTest {

  @Test
  void aGlobNamesPartsOfTheName() throws Exception {
    Result result =
        map(
            "mappings: [{match: a.*.b.*, name: 'm_$2', labels: {x: '$1', y: '${2}-$3'}}]",
            "a.one.b.two");

    assertThat(result.name()).isEqualTo("m_two");
    assertThat((Object) result.labels()).isEqualTo(Labels.of("x", "one", "y", "two-"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a.b.c", "a.b.c.d.e", "a.b.x.d", "b.b.c.d"})
  void aGlobMatchesOnlyAsManyParts(String name) throws Exception {
    Result result = map("mappings: [{match: a.*.c.d, name: m}]", name);

    assertThat(result.name()).isEqualTo(name.replace('.', '_'));
    assertThat(result.mapping()).isNull();
  }

  @Test
  void aRegularExpressionMatchesAnywhereWithGosReferences() throws Exception {
    String file =
        """
        mappings:
          - match: 'limit\\.(.+)\\.(?P<what>over|near)_limit'
            match_type: regex
            name: 'limit_x'
            labels: {what: '${what}', one: '$1', group: '$1_x', braced: '${1}_x', dollar: '$$1', none: '$7'}
        """;

    Result result = map(file, "rate.limit.d.k.over_limit");

    assertThat(result.name()).isEqualTo("limit_x");
    assertThat((Object) result.labels())
        .isEqualTo(
            Labels.of(
                "one", "d.k", "group", "", "braced", "d.k_x", "dollar", "$1", "none", "", "what",
                "over"));
  }

  @Test
  void globsComeBeforeRegularExpressionsEachInOrder() throws Exception {
    String file =
        """
        mappings:
          - {match: 'a', match_type: regex, name: regex}
          - {match: a.*, name: first}
          - {match: a.b, name: second}
        """;

    assertThat(map(file, "a.b").name()).isEqualTo("first");
    assertThat(map(file, "a.b.c").name()).isEqualTo("regex");
  }

  @Test
  void aMappingMayBeOfOneKind() throws Exception {
    StatsdMapping mapping =
        MappingFile.read("mappings: [{match: a, match_metric_type: gauge, name: g}]").mapping();

    assertThat(mapping.map(StatisticKind.GAUGE, "a").name()).isEqualTo("g");
    assertThat(mapping.map(StatisticKind.COUNTER, "a").name()).isEqualTo("a");
  }

  @Test
  void dropsWhatAMappingDrops() throws Exception {
    String file = "mappings: [{match: '.', match_type: regex, action: drop, name: dropped}]";

    assertThat(map(file, "a.b").dropped()).isTrue();
    assertThat(map("mappings: [{match: a.*, action: drop}]", "a.b").dropped()).isTrue();
  }

  @Test
  void aNameWithoutAMappingKeepsItsTextWithUnderscores() throws Exception {
    assertThat(map("mappings: []", "1a.b-c--d.é/*").name()).isEqualTo("_1a_b_c_d____");
  }

  @Test
  void timersAreSummariesUnlessTheFileSaysOtherwise() throws Exception {
    assertThat(timer("mappings: [{match: a, name: m}]")).isEqualTo(TimerShape.SUMMARY);
    assertThat(timer("mappings: [{match: a, name: m, timer_type: histogram}]"))
        .isEqualTo(TimerShape.HISTOGRAM);
    assertThat(
            timer(
                "defaults: {observer_type: histogram, buckets: [1, 2]}\n"
                    + "mappings: [{match: a, name: m}]"))
        .isEqualTo(new TimerShape.OfBuckets(List.of(1.0, 2.0)));
    assertThat(
            timer(
                "mappings: [{match: a, name: m, observer_type: histogram,"
                    + " histogram_options: {buckets: [.5]}}]"))
        .isEqualTo(new TimerShape.OfBuckets(List.of(.5)));
    assertThat(
            timer(
                "mappings: [{match: a, name: m, summary_options:"
                    + " {quantiles: [{quantile: 0.75, error: 0.1}]}}]"))
        .isEqualTo(
            new TimerShape.OfQuantiles(List.of(new TimerShape.OfQuantiles.Quantile(.75, .1))));
  }

  @Test
  void namesEachMistakeAndAppliesTheOthers() throws Exception {
    MappingFile.Read read =
        MappingFile.read(
            """
            defaults: {ttl: 5m}
            mappings:
              - {match: 'a b', name: m}
              - {match: '(', match_type: regex, name: m}
              - {match: a, name: 'no name'}
              - {match: a, name: m, labels: {9: x}}
              - {match: a, name: m, action: explode}
              - {match: a, name: m, scale: much}
              - {match: a, name: m, timer_type: histogram, buckets: [2, 1]}
              - 7
              - {match: a, name: good, help: h, summary_options: {max_age: 1m}}
            """);

    assertThat(read.mapping().map(StatisticKind.COUNTER, "a").name()).isEqualTo("good");
    assertThat(read.warnings())
        .containsExactly(
            "left out: mapping 1, \"a b\": match has to be parts or *, with dots between them",
            "left out: mapping 2, \"(\": match: missing closing )",
            "left out: mapping 3, \"a\": name \"no name\" is no name of a metric",
            "left out: mapping 4, \"a\": \"9\" is no name of a label",
            "left out: mapping 5, \"a\": action \"explode\" is not one of map, drop",
            "left out: mapping 6, \"a\": scale: \"much\" is not a number",
            "left out: mapping 7, \"a\": buckets have to be in ascending order",
            "left out: mapping 8, \"null\": a mapping has to be a map",
            "fields without effect here: \"help\", \"summary_options.max_age\", \"ttl\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "- a",
        "a: [",
        "a: 1",
        "mappings: 1",
        "mappings: []\nmappings: []",
        "x: &a [1]\nmappings: [*a]",
        "{? {a: b} : c}",
        "\u0000"
      })
  void rejectsWhatIsNoListOfMappings(String yaml) {
    assertThatThrownBy(() -> MappingFile.read(yaml)).isInstanceOf(MappingSyntaxException.class);
  }

  @Test
  void rejectsDeepNesting() {
    String deep = "[".repeat(5_000) + "]".repeat(5_000);

    assertThatThrownBy(() -> MappingFile.read("mappings: " + deep))
        .isInstanceOf(MappingSyntaxException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"((a{1000}){1000}){1000}", "(x{100}){100}", "(?:(?:\\w{2,1000})+)", "(a+)+$", "["})
  void boundsRegularExpressionsThatNeedMuchMemoryOrTime(String regex) throws Exception {
    MappingFile.Read read =
        MappingFile.read("mappings: [{match_type: regex, name: m, match: '" + regex + "'}]");

    // Quadratic time would be ages for this length.
    assertThat(read.mapping().map(StatisticKind.COUNTER, "a".repeat(4_000) + "!")).isNotNull();
  }

  @Test
  void boundsTheSizeOfAllRegularExpressionsTogether() throws Exception {
    StringBuilder file = new StringBuilder("mappings:\n");
    for (int i = 0; i < 1_500; i++) {
      file.append("- {match_type: regex, name: m, match: '")
          .append("abc".repeat(30))
          .append("'}\n");
    }

    assertThat(MappingFile.read(file.toString()).warnings())
        .hasSize(11)
        .contains(
            "left out: mapping 220, \""
                + "abc".repeat(26)
                + "ab…\": the regular expressions"
                + " are too long together");
  }

  private static Result map(String yaml, String name) throws MappingSyntaxException {
    return MappingFile.read(yaml).mapping().map(StatisticKind.COUNTER, name);
  }

  private static TimerShape timer(String yaml) throws MappingSyntaxException {
    Result result = MappingFile.read(yaml).mapping().map(StatisticKind.OBSERVER, "a");
    return Objects.requireNonNull(result.mapping()).timer();
  }
}
