package io.throttlekit.limiter;

import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.TenantFigures;
import io.throttlekit.limiter.tenants.TenantTerms;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Requests of tenants to a limiter with a manual clock. */
final class TenantRequests {
  static final TenantTerms TERMS =
      new TenantTerms(FairTerms.ALL / 2, 1_000, TenantTerms.ACTIVE_NANOS);
  static final PermitTenant FLOOD = listed("flood", 1);
  static final PermitTenant VICTIM = listed("victim", 1);

  final ManualTime time = new ManualTime(0);
  final ManualScheduler timer = new ManualScheduler(time);
  final List<Refusal> refusals = new ArrayList<>();

  AdaptiveLimiter limiter(ConcurrencyLimit algorithm, @Nullable Queueing queueing) {
    LimiterBuilder builder =
        AdaptiveLimiter.of(algorithm)
            .time(time, timer)
            .tenants(TERMS)
            .random(() -> 0.5)
            .listener(
                new LimiterListener() {
                  @Override
                  public void refused(Refusal why) {
                    refusals.add(why);
                  }
                });
    return (queueing == null ? builder : builder.queueing(queueing)).build();
  }

  static void ask(PermitCallbacks asking, String name, PermitTenant tenant, int times) {
    for (int i = 1; i <= times; i++) {
      asking.ask(name + " " + i, request(tenant));
    }
  }

  /** Returns the permits that a tenant gets of so many requests. */
  static List<Permit> flood(AdaptiveLimiter limiter, PermitTenant tenant, int requests) {
    List<Permit> permits = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      Permit permit = limiter.tryAcquire(request(tenant));
      if (permit != null) {
        permits.add(permit);
      }
    }
    return permits;
  }

  static Permit take(AdaptiveLimiter limiter, PermitTenant tenant) {
    return PermitCallbacks.taken(limiter.tryAcquire(request(tenant)));
  }

  static void release(Permit permit) {
    permit.release();
  }

  static TenantFigures figures(AdaptiveLimiter limiter, PermitTenant tenant) {
    return Objects.requireNonNull(limiter.figures(tenant));
  }

  static PermitRequest request(PermitTenant tenant) {
    return request(tenant, 0);
  }

  static PermitRequest request(PermitTenant tenant, int level) {
    return new PermitRequest(level, null, Queueing.NO_TIMEOUT, tenant);
  }

  static PermitTenant listed(String name, long weight) {
    return new PermitTenant(name, TenantWeight.listed(weight));
  }

  static PermitTenant unlisted(String name) {
    return new PermitTenant(name, TenantWeight.unlisted(1));
  }
}
