package io.throttlekit.descriptors;

import io.throttlekit.descriptors.Fields.Field;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the {@code scope} of a rule, and reports a scope that this service cannot share. */
final class ScopeReader {
  private static final String REGION = "region";
  private static final String GLOBAL = "global";

  private final LoadOptions options;
  private final Problems problems;
  private final Values values;
  private final CommonWord word;

  ScopeReader(LoadOptions options, Problems problems) {
    this.options = options;
    this.problems = problems;
    this.values = new Values(problems);
    this.word = new CommonWord("scope", List.of(REGION, GLOBAL), problems);
  }

  /**
   * Reads the scope of a rule; {@code null} when it is not known, which is reported.
   *
   * @param own fields that hold for all limits: {@code rate_limit}, or the descriptor of {@code
   *     limits}
   * @param written the mapping of each limit, which is {@code own} for {@code rate_limit}
   */
  @Nullable Scope read(Fields own, List<Fields> written) {
    String scope = word.read(own, written, REGION);
    if (!options.federated()) {
      refuseGlobal(own, written);
    }
    return scope == null ? null : scope.equals(GLOBAL) ? Scope.GLOBAL : Scope.REGION;
  }

  private void refuseGlobal(Fields own, List<Fields> written) {
    List<Fields> places = new ArrayList<>(written);
    places.add(own);
    for (Fields place : places) {
      Field said = place.get("scope");
      if (said != null && GLOBAL.equalsIgnoreCase(values.text(said))) {
        problems.error(
            said.value().location(),
            "scope: global needs --coordinator and --region",
            "start the service with both, or write scope: region");
      }
    }
  }
}
