package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.Logged;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.store.BackendState.Role;
import io.throttlekit.store.Persistence;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PersistenceRemarksTest {
  private static final Gap SNAPSHOT = new Gap(Cause.RESTART, "appendonly no", "set appendonly yes");
  private static final Gap EVICTS =
      new Gap(Cause.EVICTION, "maxmemory-policy allkeys-lru", "set maxmemory-policy noeviction");
  private static final String REFILLS = "- {key: a, rate_limit: {unit: day, requests_per_unit: 1}}";
  private static final String DENIES =
      "- {key: b, rate_limit: {unit: day, requests_per_unit: 1, on_data_loss: deny}}";
  private static final String GLOBAL =
      "- {key: c, rate_limit: {unit: day, requests_per_unit: 1, scope: global}}";

  private final Logged logged = Logged.by(PersistenceRemarks.class);
  private final PersistenceRemarks store = new PersistenceRemarks(Role.STORE, "redis://a");

  @AfterEach
  void close() {
    logged.close();
  }

  @Test
  void namesTheRuleThatDeniesAfterALossAndTheSettingToChange() {
    store.loaded(book(REFILLS, DENIES));
    store.found(new Persistence(List.of(SNAPSHOT)));
    assertThat(logged.lines())
        .containsExactly(
            "WARNING the store redis://a may have lost counts when it restarts (appendonly no);"
                + " on_data_loss then decides for domain shop, rule b: set appendonly yes");
  }

  @Test
  void logsNothingIfNoRuleReliesOnIt() {
    store.found(new Persistence(List.of(SNAPSHOT)));
    store.loaded(book(REFILLS, GLOBAL));
    assertThat(logged.lines()).isEmpty();
  }

  @Test
  void aGlobalRuleReliesOnTheCoordinator() {
    PersistenceRemarks coordinator = new PersistenceRemarks(Role.COORDINATOR, "redis://b");
    coordinator.loaded(book(REFILLS, DENIES, GLOBAL));
    coordinator.found(new Persistence(List.of(SNAPSHOT)));
    assertThat(logged.lines()).hasSize(1);
    assertThat(logged.lines().getFirst())
        .contains("the coordinator redis://b")
        .contains("rule c: set");
  }

  @Test
  void aPolicyThatEvictsCountersConcernsEveryRuleAndIsNamedOnce() {
    store.found(new Persistence(List.of(EVICTS)));
    store.loaded(book(REFILLS, DENIES));
    store.found(new Persistence(List.of(EVICTS)));
    store.loaded(book(REFILLS, DENIES));
    assertThat(logged.lines()).hasSize(1);
    assertThat(logged.lines().getFirst())
        .contains("maxmemory-policy allkeys-lru")
        .contains("rule a; domain shop, rule b")
        .contains("set maxmemory-policy noeviction");
  }

  private static PolicyBook book(String... rules) {
    return Book.of("domain: shop\ndescriptors:\n  " + String.join("\n  ", rules) + "\n");
  }
}
