package io.throttlekit.service.http;

import com.google.gson.stream.JsonWriter;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.FairShare;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.lease.Tier;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.policies.ControlPlaneStatus;
import io.throttlekit.service.policies.LoadStatus;
import io.throttlekit.service.policies.PolicyStore;
import java.io.IOException;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Serves the rules in effect, in the order of the files.
 *
 * <p>As text, one line per limit in the format of envoyproxy/ratelimit; what that format cannot
 * express is on lines that begin with {@code #}. As JSON with {@code ?format=json}. A control plane
 * may choose the names, so that they are printed without control characters, and the page ends
 * before it is too long.
 */
final class PoliciesRoute implements Route {
  /** Characters of a page after which no rule begins. */
  static final int MAX_LENGTH = 4 << 20;

  private final PolicyStore policies;
  private final Supplier<String> store;
  private final SharedPage asText;
  private final SharedPage asJson;

  /**
   * @param store describes the store of the counters in one line
   */
  PoliciesRoute(PolicyStore policies, Supplier<String> store, TimeSource time) {
    this.policies = policies;
    this.store = store;
    this.asText = new SharedPage(() -> Reply.text(200, text(rules())), time);
    this.asJson = new SharedPage(() -> Reply.json(200, json(rules())), time);
  }

  @Override
  public Reply answer(HttpQuery query) throws InterruptedException {
    return ("format=json".equals(query.query()) ? asJson : asText).get();
  }

  private List<Rule> rules() {
    PolicyBook book = policies.book();
    return book == null ? List.of() : book.rules();
  }

  private String text(List<Rule> rules) {
    StringBuilder text = new StringBuilder();
    appendStatus(text, policies.status());
    ControlPlaneStatus controlPlane = policies.controlPlane();
    if (controlPlane != null) {
      ControlPlaneText.lines(controlPlane).forEach(line -> appendRemark(text, line));
    }
    appendRemark(text, "store: " + store.get());
    int shown = 0;
    for (Rule rule : rules) {
      if (text.length() > MAX_LENGTH) {
        appendRemark(text, "rules that are not shown: " + (rules.size() - shown));
        break;
      }
      shown++;
      if (rule.concurrency() != null) { // 0 requests would read as "refuses all"
        appendRemark(text, name(rule) + ": " + PrintableText.of(rule.inWords()));
        continue;
      }
      if (rule.limits().isEmpty()) {
        appendLimit(text, rule, "UNKNOWN", 0);
      }
      for (Limit limit : rule.limits()) {
        appendLimit(text, rule, unit(limit), limit.requestsPerUnit());
      }
      appendRemark(text, "  " + PrintableText.of(rule.inWords()));
    }
    return text.toString();
  }

  private static String name(Rule rule) {
    return PrintableText.of(rule.domain() + '.' + rule.path());
  }

  private static void appendStatus(StringBuilder text, LoadStatus status) {
    appendRemark(text, "generation: " + status.generation());
    appendRemark(text, "loaded: " + loadedAt(status));
    appendRemark(text, "last load: " + lastLoad(status));
    for (Problem problem : status.problems()) {
      appendRemark(text, problem.toString());
    }
  }

  private static String lastLoad(LoadStatus status) {
    if (status.good()) {
      return "good";
    }
    return status.lastError().isEmpty() ? "none" : "failed " + status.lastError();
  }

  private static void appendRemark(StringBuilder text, String remark) {
    for (String line : remark.lines().toList()) {
      text.append("# ").append(PrintableText.of(line)).append('\n');
    }
  }

  private static void appendLimit(
      StringBuilder text, Rule rule, String unit, long requestsPerUnit) {
    text.append(name(rule)).append(": unit=").append(unit);
    text.append(" requests_per_unit=").append(requestsPerUnit);
    text.append(", shadow_mode: ").append(rule.shadow());
    text.append(", quota_mode: ").append(rule.quota()).append('\n');
  }

  private String json(List<Rule> rules) throws IOException {
    StringWriter text = new StringWriter();
    JsonWriter json = new JsonWriter(text);
    json.beginObject();
    writeStatus(json, policies.status());
    ControlPlaneStatus controlPlane = policies.controlPlane();
    if (controlPlane != null) {
      ControlPlaneText.write(json, controlPlane);
    }
    json.name("store").value(store.get());
    json.name("rules").beginArray();
    int shown = 0;
    for (Rule rule : rules) {
      if (text.getBuffer().length() > MAX_LENGTH) {
        break;
      }
      writeRule(json, rule);
      shown++;
    }
    json.endArray();
    json.name("rules_not_shown").value(rules.size() - shown);
    json.endObject();
    return text.toString();
  }

  private static void writeStatus(JsonWriter json, LoadStatus status) throws IOException {
    json.name("generation").value(status.generation());
    json.name("loaded").value(loadedAt(status));
    json.name("good").value(status.good());
    json.name("last_error").value(status.lastError());
    json.name("problems").beginArray();
    for (Problem problem : status.problems()) {
      json.beginObject();
      json.name("severity").value(problem.severity().name().toLowerCase(Locale.ROOT));
      json.name("location").value(problem.location().toString());
      json.name("message").value(problem.message());
      json.name("hint").value(problem.hint());
      json.endObject();
    }
    json.endArray();
  }

  private static String loadedAt(LoadStatus status) {
    return status.generation() == 0
        ? "never"
        : Instant.ofEpochMilli(status.loadedAtMillis()).toString();
  }

  private static void writeRule(JsonWriter json, Rule rule) throws IOException {
    json.beginObject();
    json.name("domain").value(rule.domain());
    json.name("path").value(rule.path());
    json.name("name").value(rule.name());
    json.name("location").value(rule.location().toString());
    json.name("unlimited").value(rule.unlimited());
    json.name("shadow_mode").value(rule.shadow());
    json.name("quota_mode").value(rule.quota());
    json.name("overdraft").value(rule.overdraft());
    json.name("on_outage").value(rule.onOutage().name().toLowerCase(Locale.ROOT));
    json.name("on_data_loss").value(rule.onDataLoss().name().toLowerCase(Locale.ROOT));
    json.name("scope").value(rule.scope().name().toLowerCase(Locale.ROOT));
    json.name("tier").value(tier(rule.tier()));
    json.name("replaces").beginArray();
    for (String replaced : rule.replaces()) {
      json.value(replaced);
    }
    json.endArray();
    json.name("limits").beginArray();
    for (Limit limit : rule.limits()) {
      json.beginObject();
      json.name("requests_per_unit").value(limit.requestsPerUnit());
      json.name("unit").value(unit(limit));
      json.name("window_ms").value(limit.windowMillis());
      json.name("algorithm").value(limit.algorithm().id());
      json.endObject();
    }
    json.endArray();
    FairShare share = rule.fairShare();
    if (share != null) {
      json.name("fair_share");
      writeShare(json, share);
    }
    ConcurrencyRule concurrency = rule.concurrency();
    if (concurrency != null) {
      json.name("concurrency");
      writeLimit(json, concurrency);
    }
    json.endObject();
  }

  private static void writeShare(JsonWriter json, FairShare share) throws IOException {
    json.beginObject();
    json.name("tenant").value(share.tenantEntry());
    if (share.weightEntry() != null) {
      json.name("weight_entry").value(share.weightEntry());
    }
    json.name("default_weight").jsonValue(share.defaultWeight().toString());
    json.name("weights").beginObject();
    for (Map.Entry<String, FairShare.Weight> weight : share.weights().entrySet()) {
      json.name(weight.getKey()).jsonValue(weight.getValue().toString());
    }
    json.endObject();
    json.name("max_tenants").value(share.maxTenants());
    json.name("unlisted_share").value((double) share.unlistedMillionths() / FairShare.ALL);
    json.endObject();
  }

  private static void writeLimit(JsonWriter json, ConcurrencyRule concurrency) throws IOException {
    json.beginObject();
    json.name("algorithm").value(concurrency.algorithm().id());
    json.name("min").value(concurrency.range().min());
    json.name("max").value(concurrency.range().max());
    json.name("initial").value(concurrency.range().initial());
    switch (concurrency.gate()) {
      case ConcurrencyRule.AtEnvoys envoys -> {
        json.name("gate").value("envoy");
        json.name("cluster").value(envoys.cluster());
        json.name("circuit_breaker").value(envoys.highPriority() ? "high" : "default");
      }
      case ConcurrencyRule.AtService service -> {
        json.name("gate").value("service");
        json.name("lease_ttl_ms").value(service.lease().ttlMillis());
        json.name("release").value(service.lease().release().name().toLowerCase(Locale.ROOT));
        ConcurrencyRule.WaitingRoom queue = service.queue();
        if (queue != null) {
          json.name("queue_initial").value(queue.initial());
          json.name("queue_max").value(queue.max());
        }
        if (service.priorityEntry() != null) {
          json.name("priority_entry").value(service.priorityEntry());
        }
      }
    }
    json.endObject();
  }

  private static String tier(Tier tier) {
    return switch (tier) {
      case Tier.Strict _ -> "strict";
      case Tier.CachedDeny _ -> "cached_deny";
      case Tier.Leasing _ -> "leased";
    };
  }

  private static String unit(Limit limit) {
    return limit.unit() == null ? "UNKNOWN" : limit.unit().name();
  }
}
