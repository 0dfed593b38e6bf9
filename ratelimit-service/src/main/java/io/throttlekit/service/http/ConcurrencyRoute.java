package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.SharePlan;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.limiter.tenants.TenantFigures;
import io.throttlekit.limiter.tenants.TenantState;
import io.throttlekit.service.concurrency.ConcurrencyLimits;
import io.throttlekit.service.concurrency.ConcurrencyLimits.DividedLimit;
import io.throttlekit.service.concurrency.FleetLimit;
import io.throttlekit.service.concurrency.envoy.SteeringFigures;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.share.FleetFigures;
import io.throttlekit.steering.LimiterState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves the concurrency limits that replicas or tenants share, and the shares of Envoys, as this
 * process sees them. Of each limit, the tenants with the most requests in flight.
 */
final class ConcurrencyRoute implements Route {
  private static final int MAX_TENANTS = 10; // of each limit; bounds the page

  private final ConcurrencyLimits limits;
  private final @Nullable Supplier<SteeringFigures> envoys;
  private final SharedPage page;

  /**
   * @param envoys null if this process pushes no limits to Envoys
   */
  ConcurrencyRoute(
      ConcurrencyLimits limits, @Nullable Supplier<SteeringFigures> envoys, TimeSource time) {
    this.limits = limits;
    this.envoys = envoys;
    this.page = new SharedPage(() -> Reply.text(200, text()), time);
  }

  @Override
  public Reply answer(HttpQuery query) throws InterruptedException {
    return page.get();
  }

  private String text() {
    List<String> lines = new ArrayList<>();
    limits.forEachShared(limit -> lines.add(line(limit)));
    lines.sort(null);
    limits.forEachDivided(limit -> lines.add(tenants(limit)));
    String node = limits.node();
    return "# node: "
        + (node == null ? "none, as the limits are of this process alone" : PrintableText.of(node))
        + "\n"
        + String.join("", lines)
        + (envoys == null ? "" : text(envoys.get()));
  }

  private static String tenants(DividedLimit limit) {
    ShareFigures figures = limit.figures();
    StringBuilder text = new StringBuilder();
    text.append(
        "%s: tenants=%d borrowed=%d tenant_reserve=%d%n"
            .formatted(
                PrintableText.of(limit.key()),
                figures.tenants(),
                figures.borrowed(),
                figures.reserved()));
    for (TenantState tenant : limit.busiest(MAX_TENANTS)) {
      TenantFigures of = tenant.figures();
      text.append(
          "%s tenant %s: in_flight=%d part=%d waiting=%d%n"
              .formatted(
                  PrintableText.of(limit.key()),
                  PrintableText.of(tenant.name()),
                  of.inFlight(),
                  of.part(),
                  of.waiting()));
    }
    return text.toString();
  }

  private static String text(SteeringFigures figures) {
    SharePlan plan = figures.plan();
    if (figures.planEpoch() == 0) {
      return ""; // nothing was ever published
    }
    StringBuilder text = new StringBuilder();
    text.append(
        "# envoys: replica=%s steering=%s%s epoch=%d plan=%d%s%n"
            .formatted(
                PrintableText.of(figures.replica()),
                figures.steering().isEmpty() ? "-" : PrintableText.of(figures.steering()),
                figures.epoch() > 0 ? " (this node)" : "",
                figures.planEpoch(),
                plan.number(),
                figures.cutOff() ? " cut_off" : ""));
    plan.limits()
        .forEach((limit, requests) -> {
          List<SharePlan.Part> parts =
              plan.parts().stream().filter(part -> part.shares().containsKey(limit)).toList();
          long reserved =
              parts.stream()
                  .mapToLong(part -> Objects.requireNonNull(part.shares().get(limit)).reserved())
                  .sum();
          text.append(
              "%s: limit=%d reserved=%d envoys=%d%n"
                  .formatted(name(limit), requests, reserved, parts.size()));
          parts.forEach(part -> text.append(line(limit, part, figures)));
        });
    return text.toString();
  }

  private static String line(ClusterLimit limit, SharePlan.Part part, SteeringFigures figures) {
    LimiterState share = Objects.requireNonNull(part.shares().get(limit));
    return "%s %s: share=%s reserved=%d %s replica=%s%n"
        .formatted(
            name(limit),
            PrintableText.of(part.node()),
            share.granted() < 0 ? "-" : Integer.toString(share.granted()),
            share.reserved(),
            share.acknowledged() ? "acknowledged" : "unacknowledged",
            PrintableText.of(figures.holders().getOrDefault(part.token(), "-")));
  }

  private static String name(ClusterLimit limit) {
    return "envoys|" + PrintableText.of(limit.cluster()) + "|" + limit.priority();
  }

  private static String line(FleetLimit limit) {
    FleetFigures figures = limit.figures();
    String state = figures.nodes() == 0 ? "idle" : "member";
    return "%s: share=%d limit=%d in_flight=%d nodes=%d steering=%s%s%s %s%n"
        .formatted(
            PrintableText.of(limit.key()),
            figures.share(),
            figures.limit(),
            limit.inFlight(),
            figures.nodes(),
            figures.steering().isEmpty() ? "-" : PrintableText.of(figures.steering()),
            figures.epoch() > 0 ? " (this node)" : "",
            figures.sameId() ? " same_node_id" : "",
            figures.fenced() ? "fenced" : state);
  }
}
