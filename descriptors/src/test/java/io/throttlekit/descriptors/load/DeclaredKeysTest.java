package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.descriptors.source.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Tests that a reader exists for each key of {@code policy-language.yaml}: it must report a value
 * of another type than the declared one. A key without a reader would be accepted and ignored.
 */
class DeclaredKeysTest {
  private static final String LIMIT = "unit: day, requests_per_unit: 9";

  /** A policy for each place, in which {@code ?} stands for keys of the place. */
  private static final Map<String, String> POLICIES = new TreeMap<>();

  static {
    POLICIES.put("root", "?");
    POLICIES.put("entry", "domain: d, entries: {a: {?}}");
    descriptor("descriptor", "?");
    descriptor("denied", "rate_limit: {" + LIMIT + "}, denied: {?}");
    descriptor("limit", "limits: [{" + LIMIT + ", ?}]");
    descriptor("rate_limit", "rate_limit: {" + LIMIT + ", ?}");
    descriptor("replaces", "rate_limit: {" + LIMIT + ", replaces: [{?}]}");
    descriptor("lease", "rate_limit: {" + LIMIT + ", tier: leased, lease: {?}}");
    descriptor("fair_share", "rate_limit: {" + LIMIT + ", fair_share: {tenant: t, ?}}");
    descriptor("descriptor_with_limits", "limits: [{" + LIMIT + "}], ?");
    descriptor("descriptor_with_concurrency", "concurrency: {}, ?");
    descriptor("concurrency", "concurrency: {?}");
    descriptor("permit_lease", "concurrency: {lease: {?}}");
    for (String place : List.of("queue", "priority", "coordination")) {
      descriptor(place, "concurrency: {" + place + ": {?}}");
    }
    descriptor("failsafe", "concurrency: {algorithm: failsafe, failsafe: {?}}");
    descriptor(
        "recent_window", "concurrency: {algorithm: failsafe, failsafe: {recent_window: {?}}}");
    descriptor("recalibration", "concurrency: {algorithm: gradient2, recalibration: {?}}");
    POLICIES.put("overrides", "?");
    POLICIES.put("override", "overrides: [{?}]");
    POLICIES.put("override_descriptor", "overrides: [{domain: d, descriptors: [{key: k, ?}]}]");
    POLICIES.put("override_limit", "overrides: [{domain: d, rate_limit: {?}}]");
  }

  private static void descriptor(String place, String keys) {
    POLICIES.put(place, "domain: d, descriptors: [{key: k, " + keys + "}]");
  }

  private final PolicyLanguage language = PolicyLanguage.declared();

  @Test
  void areRead() {
    assertThat(language.places()).containsExactlyInAnyOrderElementsOf(POLICIES.keySet());
    List<String> unread = new ArrayList<>();
    for (String place : language.places()) {
      for (Key key : language.place(place).keys().values()) {
        if (!isRead(place, key)) {
          unread.add(key.name() + ' ' + language.place(place).where());
        }
      }
    }
    assertThat(unread).as("keys that no reader reads").isEmpty();
  }

  private static boolean isRead(String place, Key key) {
    boolean collection = List.of("mapping", "list", "free").contains(key.attribute("type"));
    StringBuilder keys = new StringBuilder();
    key.attributes()
        .forEach((name, words) -> {
          if (name.startsWith("only_") && !name.equals("only_hint")) {
            keys.append(name.substring("only_".length())).append(": ");
            keys.append(words.split(", ", -1)[0]).append(", ");
          }
        });
    keys.append(key.name()).append(": ").append(collection ? "wrong" : "{wrong: 1}");
    String policy = "{" + Objects.requireNonNull(POLICIES.get(place)).replace("?", keys) + "}";
    String wanted = "`" + key.name() + "` must be ";

    return problems(place, policy).stream()
        .map(Problem::message)
        .anyMatch(message -> message.startsWith(wanted));
  }

  private static List<Problem> problems(String place, String policy) {
    return place.startsWith("override")
        ? RuleOverrides.read(new PolicySource("o.yaml", policy), new LoadOptions(true)).problems()
        : Loading.merged(policy).problems();
  }
}
