package io.throttlekit.descriptors;

import io.throttlekit.DataLoss;
import io.throttlekit.descriptors.Fields.Field;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads the behaviour of a rule without its counters: {@code on_outage} and {@code on_data_loss}.
 */
final class OutageReader {
  private static final List<String> ON_OUTAGE =
      List.of("error", "deny", "allow", "local", "regional_only");
  private static final List<String> IN_REGION = ON_OUTAGE.subList(0, 4);
  private static final List<String> ON_DATA_LOSS = List.of("refill", "deny");

  private final Problems problems;
  private final Values values;

  OutageReader(Problems problems) {
    this.problems = problems;
    this.values = new Values(problems);
  }

  /**
   * Returns the answer when counters cannot be reached.
   *
   * @param scope of the rule; {@code null} when it is not known
   */
  OnOutage onOutage(@Nullable Field field, @Nullable Scope scope) {
    if (field == null) {
      return OnOutage.ERROR;
    }
    String choice = values.choice(field, ON_OUTAGE, scope == Scope.REGION ? IN_REGION : ON_OUTAGE);
    if (choice == null) {
      return OnOutage.ERROR;
    }
    OnOutage onOutage = OnOutage.valueOf(choice.toUpperCase(Locale.ROOT));
    if (onOutage == OnOutage.REGIONAL_ONLY && scope == Scope.REGION) {
      problems.error(
          field.value().location(),
          "`on_outage: regional_only` is for scope: global only",
          "write scope: global, or on_outage: error, deny, allow or local");
    }
    return onOutage == OnOutage.REGIONAL_ONLY && scope != Scope.GLOBAL ? OnOutage.ERROR : onOutage;
  }

  /** Returns the treatment of limits whose counters are lost. */
  DataLoss onDataLoss(@Nullable Field field) {
    String choice = field == null ? null : values.choice(field, ON_DATA_LOSS);
    return "deny".equals(choice) ? DataLoss.DENY : DataLoss.REFILL;
  }
}
