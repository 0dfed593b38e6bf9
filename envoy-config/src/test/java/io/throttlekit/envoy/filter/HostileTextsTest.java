package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Texts of policies cannot change the structure of the YAML that is printed for Envoy. */
class HostileTextsTest {
  private static final long SEED = 27;

  /** Ends of lines and scalars, comments, flow style, escapes, what YAML does not allow, emoji. */
  private static final int[] CHARACTERS =
      "\"'\\\n\r\t\u0000\u007f\u0085\u2028\u2029\ufeff\uffff\ue000\u202e#:-,{}[]&*!|>%@` abY\u00e9"
          .codePoints()
          .toArray();

  private static String text(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 12); i > 0; i--) {
      text.appendCodePoint(
          random.nextInt(12) == 0 ? 0x1F600 : CHARACTERS[random.nextInt(CHARACTERS.length)]);
    }
    return text.toString();
  }

  /** Returns a text as YAML with nothing but ASCII. */
  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder("\"");
    text.codePoints().forEach(c -> escaped.append(String.format(Locale.ROOT, "\\U%08x", c)));
    return escaped.append('"').toString();
  }

  private static Object parsed(String yaml) {
    return new Load(LoadSettings.builder().build()).loadFromString(yaml);
  }

  @Test
  void areReadBackAsTheyWere() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 300; i++) {
      String domain = text(random) + "d";
      String key = "k" + text(random).replace('*', 'x');
      String value = "v" + text(random).replace('*', 'x');
      FilterActions actions =
          FilterActions.of(
              Policies.book(
                  "p.yaml",
                  "domain: %s\ndescriptors:\n- {key: %s, value: %s, rate_limit: {unit: day, requests_per_unit: 1}}\n"
                      .formatted(escaped(domain), escaped(key), escaped(value))),
              domain,
              Map.of());
      FilterText text = new FilterText(List.of(actions));
      assertThat(parsed(text.parts()))
          .as("seed %d, text %d", SEED, i)
          .isEqualTo(
              Map.of(
                  "rate_limits",
                  List.of(
                      Map.of(
                          "actions",
                          List.of(
                              Map.of(
                                  "generic_key",
                                  Map.of("descriptor_value", value, "descriptor_key", key)))))));
      assertThat(parsed(text.bootstrap()).toString())
          .as("seed %d, text %d", SEED, i)
          .contains("domain=" + domain + ",");
    }
  }
}
