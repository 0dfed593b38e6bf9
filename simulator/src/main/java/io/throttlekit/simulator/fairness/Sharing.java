package io.throttlekit.simulator.fairness;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.fairness.WeightedFairEscrow;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;

/**
 * A way to share a limit.
 *
 * @param name in tables
 * @param start begins a run of a scenario
 */
record Sharing(String name, Function<FairScenario, Run> start) {

  /** The state of one run. */
  @FunctionalInterface
  interface Run {

    /**
     * Decides a request of one unit, at once or after a wait.
     *
     * @param tenant index of the tenant
     * @param nowMillis time of the request, which never falls
     * @param admitted receives a time in the window that the request is counted in, in ms, if it is
     *     admitted
     */
    void request(int tenant, double nowMillis, LongConsumer admitted);

    /** Returns for how many windows after its last request a tenant has a reserve. */
    default int reservedWindows() {
      return 1;
    }

    /** Returns how often a store or coordinator was called. */
    default long calls() {
      return 0;
    }
  }

  /** Decides requests without a wait. */
  @FunctionalInterface
  private interface Decider {
    boolean tryAcquire(int tenant, long nowMillis);
  }

  /** Returns this sharing under another name. */
  Sharing named(String other) {
    return new Sharing(other, start);
  }

  /** Returns the ways of the report. */
  static List<Sharing> all() {
    return List.of(firstCome(), staticLimits(), forgetful(), fair());
  }

  /** One counter for all tenants. */
  static Sharing firstCome() {
    return new Sharing(
        "first come, first served",
        scenario -> {
          Window window = new Window(scenario.windowMillis());
          return run((_, now) -> window.charge(now, scenario.limit()));
        });
  }

  /** A counter for each tenant, with its part of the limit. */
  static Sharing staticLimits() {
    return new Sharing(
        "a limit for each tenant",
        scenario -> {
          long all = scenario.tenants().stream().mapToLong(TenantLoad::weight).sum();
          List<Window> windows =
              scenario.tenants().stream().map(_ -> new Window(scenario.windowMillis())).toList();
          return run((tenant, now) -> {
            long weight = scenario.tenants().get(tenant).weight();
            return windows.get(tenant).charge(now, weight * scenario.limit() / all);
          });
        });
  }

  /** Fair shares as published: all tenants are forgotten when a window begins. */
  static Sharing forgetful() {
    return new Sharing(
        "forgotten at each window",
        scenario -> {
          WeightedFairEscrow escrow = escrow(scenario);
          Decider decider = decider(escrow, scenario);
          long[] window = {0};
          return run((tenant, now) -> {
            if (now / scenario.windowMillis() != window[0]) {
              window[0] = now / scenario.windowMillis();
              escrow.reset();
            }
            return decider.tryAcquire(tenant, now);
          });
        });
  }

  /** Fair shares in one process. */
  static Sharing fair() {
    return new Sharing("fair shares", scenario -> run(decider(escrow(scenario), scenario)));
  }

  private static WeightedFairEscrow escrow(FairScenario scenario) {
    return new WeightedFairEscrow(FairTerms.of(scenario.limit(), scenario.windowMillis()));
  }

  private static Run run(Decider decider) {
    return (tenant, now, admitted) -> {
      if (decider.tryAcquire(tenant, (long) now)) {
        admitted.accept((long) now);
      }
    };
  }

  private static Decider decider(WeightedFairEscrow escrow, FairScenario scenario) {
    List<CounterKey> keys =
        scenario.tenants().stream()
            .map(tenant -> CounterKey.of("simulated", "tenant", tenant.name()))
            .toList();
    List<TenantWeight> weights =
        scenario.tenants().stream().map(tenant -> TenantWeight.listed(tenant.weight())).toList();
    return (tenant, now) ->
        escrow.tryAcquire(keys.get(tenant), weights.get(tenant), 1, now).admitted();
  }

  /** A counter of the current window. */
  private static final class Window {
    private final long millis;
    private long number = -1;
    private long used;

    Window(long millis) {
      this.millis = millis;
    }

    boolean charge(long now, long limit) {
      if (now / millis != number) {
        number = now / millis;
        used = 0;
      }
      if (used >= limit) {
        return false;
      }
      used++;
      return true;
    }
  }
}
