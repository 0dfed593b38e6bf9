package io.throttlekit.service.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.service.policies.PolicyStore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The page of the policies, whose names others may have chosen. */
class PoliciesRouteTest {
  private final PolicyStore policies = new PolicyStore();
  private final PoliciesRoute route =
      new PoliciesRoute(policies, () -> "memory", new ManualTime(0));

  private void load(String yaml) {
    var loaded =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource("a.yaml", yaml)));
    policies.loaded(Objects.requireNonNull(loaded.book()), List.of(), 1);
  }

  private String page(String query) throws InterruptedException {
    Reply reply = route.answer(new HttpQuery(query, null, new byte[0], null));
    return new String(reply.body(), StandardCharsets.UTF_8);
  }

  @Test
  void aNameCannotForgeALine() throws InterruptedException {
    load(
        """
        domain: "shop\\nother.a: unit=DAY"
        descriptors:
          - {key: "k\\r\\n# remark", rate_limit: {unit: day, requests_per_unit: 7, name: "n\\nm"}}
        """);
    assertThat(page("").lines().filter(line -> !line.startsWith("#")))
        .containsExactly(
            "shop\uFFFDother.a: unit=DAY.k\uFFFD\uFFFD# remark: unit=DAY requests_per_unit=7,"
                + " shadow_mode: false, quota_mode: false");
    assertThat(page("")).doesNotContain("\n# remark");
  }

  @Test
  void aPageEndsBeforeItIsTooLong() throws InterruptedException {
    StringBuilder yaml = new StringBuilder("domain: shop\ndescriptors:\n");
    for (int i = 0; i < 10; i++) {
      yaml.append(
          "- {key: k%d%s, rate_limit: {unit: day, requests_per_unit: 7}}%n"
              .formatted(i, "x".repeat(1 << 20)));
    }
    load(yaml.toString());
    assertThat(page(""))
        .hasSizeBetween(PoliciesRoute.MAX_LENGTH, PoliciesRoute.MAX_LENGTH + (2 << 20))
        .endsWith("\n# rules that are not shown: 6\n");
    JsonObject json = JsonParser.parseString(page("format=json")).getAsJsonObject();
    assertThat(json.getAsJsonArray("rules")).hasSize(10 - json.get("rules_not_shown").getAsInt());
    assertThat(json.get("rules_not_shown").getAsInt()).isPositive();
  }
}
