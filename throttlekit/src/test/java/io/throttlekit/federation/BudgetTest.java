package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BudgetTest {
  private final FixedWindow perSecond = new FixedWindow(10, 1_000);
  private final FixedWindow perHour = new FixedWindow(500, 3_600_000);
  private final Terms both = new Terms("shop", List.of(perSecond, perHour));
  private final Budget budget = new Budget(key("shop/1000"), perSecond, both);

  @Test
  void budgetsOfOneDescriptorBelongToOneParty() {
    Budget other = new Budget(key("shop/3600000"), perHour, both);
    assertThat(budget.party()).isEqualTo(other.party()).isEqualTo(key("shop"));
    Budget stranger = new Budget(CounterKey.of("shop/1000", "user", "b"), perSecond, both);
    assertThat(budget.party()).isNotEqualTo(stranger.party());
  }

  @Test
  void termsMustContainTheBudget() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Budget(key("shop/1000"), new FixedWindow(11, 1_000), both))
        .withMessage(
            "the terms (10 per 1000 ms, 500 per 3600000 ms) have no budget of 11 per 1000 ms");
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, Cost.MAX + 1, Long.MAX_VALUE})
  void unitsOutOfRangeAreRejected(long units) {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new BudgetLease(budget, "eu", BudgetLease.CURRENT, units, DataLoss.REFILL))
        .withMessageContaining("1 to 2^53-1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BudgetReturn(budget, "eu", "1", 1_000, units))
        .withMessageContaining("1 to 2^53-1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new EscrowRefill(budget.key(), "1", 1_000, 0, 1_000, units))
        .withMessageContaining("1 to 2^53-1");
  }

  @Test
  void aRefillCannotEndBeforeItBegins() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new EscrowRefill(budget.key(), "1", 1_000, 11, 10, 1))
        .withMessage("a refill cannot end before it begins");
  }

  @Test
  void settingsRequireNamesAndPositiveNumbers() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new FederationSettings("", "n1", 1, 1))
        .withMessage("a region and a node need names");
    assertThatIllegalArgumentException().isThrownBy(() -> new FederationSettings("eu", "", 1, 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new FederationSettings("eu", "n1", 0, 1))
        .withMessageContaining("were 0, 2000 and 1");
    assertThatIllegalArgumentException().isThrownBy(() -> new FederationSettings("eu", "n1", 1, 0));
  }

  private static CounterKey key(String scope) {
    return CounterKey.of(scope, "user", "a");
  }
}
