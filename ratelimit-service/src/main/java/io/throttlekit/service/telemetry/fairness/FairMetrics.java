package io.throttlekit.service.telemetry.fairness;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.telemetry.fairness.TopTenants.Figures;
import io.throttlekit.service.telemetry.fairness.TopTenants.TenantFigures;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Metrics of limits that tenants share, in front of another listener.
 *
 * <p>Figures are those of the decisions of this process: what it does not decide, it does not
 * count. Names of tenants come from requests, so at most {@value TopTenants#MAX_SHOWN} tenants of
 * each rule have series; the others are added up. Create once. Thread-safe.
 */
public final class FairMetrics implements DecisionListener {
  private static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("domain");
  private static final AttributeKey<String> RULE = AttributeKey.stringKey("rule");
  private static final AttributeKey<String> TENANT = AttributeKey.stringKey("tenant");

  private final Supplier<? extends @Nullable PolicyBook> policies;
  private final TimeSource time;
  private final DecisionListener next;
  private volatile Tables tables = new Tables(null, new IdentityHashMap<>(), Map.of());

  /** Identifies a rule in the metrics, before and after a reload. */
  private record Name(String domain, String path) {
    static Name of(Rule rule) {
      return new Name(rule.domain(), rule.path());
    }
  }

  /** The tenants of the rules of one book. */
  private record Tables(
      @Nullable PolicyBook book,
      IdentityHashMap<Rule, TopTenants> ofRule,
      Map<Name, TopTenants> named) {}

  /**
   * Registers the instruments.
   *
   * @param policies supplies the current book, or null while there is none
   * @param next receives all decisions, too
   */
  public FairMetrics(
      Meter meter,
      Supplier<? extends @Nullable PolicyBook> policies,
      TimeSource time,
      DecisionListener next) {
    this.policies = policies;
    this.time = time;
    this.next = next;
    counter(
        meter,
        "throttlekit_fair_borrowed_units",
        "Units admitted beyond the guarantees of tenants",
        measured -> ofRules(measured, Figures::borrowed));
    counter(
        meter,
        "throttlekit_fair_refused_units",
        "Units refused to tenants that share a limit",
        measured -> ofRules(measured, Figures::refused));
    gauge(
        meter,
        "throttlekit_fair_reserved_units",
        "Units that the tenants with the most requests have not used of their guarantees",
        measured -> ofRules(measured, Figures::reserved));
    counter(
        meter,
        "throttlekit_tenant_admitted_units",
        "Units admitted, of the tenants with the most requests",
        measured -> ofTenants(measured, TenantFigures::admitted));
    counter(
        meter,
        "throttlekit_tenant_borrowed_units",
        "Those beyond the guarantee",
        measured -> ofTenants(measured, TenantFigures::borrowed));
    counter(
        meter,
        "throttlekit_tenant_refused_units",
        "Units refused",
        measured -> ofTenants(measured, TenantFigures::refused));
    gauge(
        meter,
        "throttlekit_tenant_guaranteed_units",
        "Units of a window that a tenant is guaranteed",
        measured -> ofTenants(measured, TenantFigures::guarantee));
  }

  @Override
  public void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadow) {
    next.decided(rule, entries, hits, decision, shadow);
    if (hits > 0 && isShared(rule)) {
      TopTenants tenants = find(rule);
      if (tenants != null) {
        long limit = Math.max(1, rule.limits().getFirst().requestsPerUnit());
        tenants.decided(rule.tenant(entries), hits, Math.min(hits, limit), decision);
      }
    }
  }

  @Override
  public void refusedFromCache(Rule rule, String[] entries, long hits) {
    next.refusedFromCache(rule, entries, hits);
  }

  @Override
  public void domainNotFound(String domain, int descriptors) {
    next.domainNotFound(domain, descriptors);
  }

  @Override
  public void globalShadow() {
    next.globalShadow();
  }

  private static boolean isShared(Rule rule) {
    return rule.fairShare() != null && !rule.limits().isEmpty(); // no concurrency limit
  }

  /** Returns the tenants of a rule; null if a reload has removed it. */
  private @Nullable TopTenants find(Rule rule) {
    TopTenants known = tables.ofRule.get(rule);
    if (known != null) {
      return known;
    }
    Tables newest = refreshed();
    TopTenants added = newest.ofRule.get(rule);
    return added != null ? added : newest.named.get(Name.of(rule)); // of the book before
  }

  private Tables refreshed() {
    PolicyBook book = policies.get();
    return book == null || book == tables.book ? tables : rebuilt(book);
  }

  private synchronized Tables rebuilt(PolicyBook book) {
    Tables before = tables;
    if (before.book == book) {
      return before;
    }
    IdentityHashMap<Rule, TopTenants> ofRule = new IdentityHashMap<>();
    Map<Name, TopTenants> named = new HashMap<>();
    for (Rule rule : book.rules()) {
      if (isShared(rule)) {
        TopTenants same = before.named.get(Name.of(rule));
        TopTenants tenants = same != null ? same : new TopTenants(time);
        ofRule.put(rule, named.computeIfAbsent(Name.of(rule), _ -> tenants));
      }
    }
    Tables now = new Tables(book, ofRule, named);
    tables = now;
    return now;
  }

  private void ofRules(ObservableLongMeasurement measured, ToLongFunction<Figures> figure) {
    forEach((name, figures) ->
        measured.record(
            figure.applyAsLong(figures), Attributes.of(DOMAIN, name.domain(), RULE, name.path())));
  }

  private void ofTenants(ObservableLongMeasurement measured, ToLongFunction<TenantFigures> figure) {
    forEach((name, figures) -> {
      for (TenantFigures tenant : figures.tenants()) {
        long value = figure.applyAsLong(tenant);
        if (value >= 0) { // a guarantee may be unknown
          measured.record(
              value,
              Attributes.of(DOMAIN, name.domain(), RULE, name.path(), TENANT, tenant.label()));
        }
      }
    });
  }

  private interface FiguresReader {
    void read(Name name, Figures figures);
  }

  private void forEach(FiguresReader reader) {
    Tables current = refreshed();
    long now = time.wallMillis();
    Map<Name, Long> windows = new HashMap<>(); // each name once
    for (Rule rule : current.ofRule.keySet()) {
      windows.merge(Name.of(rule), windowMillis(rule), Math::max);
    }
    windows.forEach((name, window) -> {
      TopTenants tenants = current.named.get(name);
      if (tenants != null) {
        reader.read(name, tenants.figures(now, window));
      }
    });
  }

  /** Returns the window of a rule's limit; 0 if there are several, whose reserves differ. */
  private static long windowMillis(Rule rule) {
    Limit first = rule.limits().getFirst();
    return rule.limits().size() == 1 ? first.windowMillis() : 0;
  }

  private static void counter(
      Meter meter, String name, String description, Consumer<ObservableLongMeasurement> values) {
    meter.counterBuilder(name).setDescription(description).buildWithCallback(values);
  }

  private static void gauge(
      Meter meter, String name, String description, Consumer<ObservableLongMeasurement> values) {
    meter.gaugeBuilder(name).ofLongs().setDescription(description).buildWithCallback(values);
  }
}
