package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.service.concurrency.envoy.SteeringFigures;
import io.throttlekit.share.FleetFigures;
import io.throttlekit.steering.Acknowledgements;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Metrics of concurrency limits by rule: limits that differ by request values are added up. No
 * label comes from a request.
 */
public final class LimitGauges {
  private static final String PREFIX = "throttlekit_concurrency_";
  static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("domain");
  static final AttributeKey<String> RULE = AttributeKey.stringKey("rule");

  private LimitGauges() {}

  /**
   * Registers the gauges. Call once for limits that differ by rule.
   *
   * @param limits passes each limit with its rule, at every collection
   */
  public static void show(Meter meter, Consumer<BiConsumer<Rule, LimiterFigures>> limits) {
    show(meter, limits, "limit", "Requests that may be in flight", LimiterFigures::limit);
    show(meter, limits, "in_flight", "Requests in flight", LimiterFigures::inFlight);
    show(meter, limits, "queued", "Requests that wait for room", LimiterFigures::queued);
  }

  /**
   * Registers the figures of all limits that are pushed to Envoys. Call once. Each is read at every
   * collection.
   *
   * @param figures returns this replica's part
   * @param held returns how many limits are kept from rising
   * @param shared returns how many node ids have several streams
   * @param rejected returns how many Envoys were rejected because there were too many or their node
   *     id is not permitted; never decreases
   */
  public static void showSteering(
      Meter meter,
      Supplier<SteeringFigures> figures,
      LongSupplier held,
      LongSupplier shared,
      LongSupplier rejected) {
    OurCounters ours = new OurCounters(meter);
    ours.gauge(
        PREFIX + "steers_envoys",
        "1 if this replica computes and divides the limits of Envoys for all",
        () -> figures.get().epoch() > 0 ? 1 : 0);
    ours.gauge(
        PREFIX + "envoys_epoch",
        "Epoch in which the newest known shares of Envoys were published",
        () -> figures.get().planEpoch());
    ours.gauge(
        PREFIX + "cut_off",
        "1 if Envoys have to connect to another replica, as the store does not answer",
        () -> figures.get().cutOff() ? 1 : 0);
    ours.gauge(
        PREFIX + "held_limits", "Limits that do not rise because much of the log is missing", held);
    ours.gauge(
        PREFIX + "shared_node_ids",
        "Node ids with more than one stream, which divide their share",
        shared);
    ours.counter(
        PREFIX + "refused_streams", "Streams of Envoys for their limits, ended at once", rejected);
  }

  /**
   * Registers how far Envoys have acknowledged the limits pushed to them. Call once.
   *
   * @param limits passes the state of each limit with its rule, at every collection
   */
  public static void showAcknowledgements(
      Meter meter, Consumer<BiConsumer<Rule, Acknowledgements>> limits) {
    show(meter, limits, "envoys", "Envoys that were sent their share", Acknowledgements::present);
    show(
        meter,
        limits,
        "unacknowledged_envoys",
        "Envoys that have not acknowledged their share",
        Acknowledgements::unacknowledged);
    show(
        meter,
        limits,
        "held_back",
        "Requests that no Envoy can have, because one that left or is stuck may use them",
        Acknowledgements::heldBack);
  }

  /**
   * Registers how much of the limits is reserved for Envoys. Call once.
   *
   * @param limits passes the requests of each limit with its rule, at every collection
   */
  public static void showReserved(Meter meter, Consumer<BiConsumer<Rule, Long>> limits) {
    show(
        meter,
        limits,
        "reserved",
        "Requests that Envoys may have in flight by the shares that they may apply",
        Long::longValue);
  }

  /**
   * Registers this process's part in the limits that replicas share. Call once.
   *
   * @param limits passes the figures of each limit with its rule, at every collection
   */
  public static void showShares(Meter meter, Consumer<BiConsumer<Rule, FleetFigures>> limits) {
    show(
        meter,
        limits,
        "share",
        "Requests that this replica may have in flight",
        FleetFigures::share);
    show(
        meter,
        limits,
        "fleet_limit",
        "Requests that all replicas may have in flight",
        FleetFigures::limit);
    show(
        meter,
        limits,
        "nodes",
        "Replicas that share a limit, as this one knows; those of several limits are added up",
        FleetFigures::nodes);
    show(
        meter,
        limits,
        "steering",
        "Limits that this replica computes for all",
        figures -> figures.epoch() > 0 ? 1 : 0);
    show(
        meter,
        limits,
        "fenced",
        "Limits that refuse all requests of this replica, as the store does not answer",
        figures -> figures.fenced() ? 1 : 0);
  }

  /**
   * Registers how tenants share the limits that are divided among them. Call once.
   *
   * @param limits passes the figures of each such limit with its rule, at every collection
   */
  public static void showTenants(Meter meter, Consumer<BiConsumer<Rule, ShareFigures>> limits) {
    show(meter, limits, "tenants", "Active tenants of a limit", ShareFigures::tenants);
    show(
        meter,
        limits,
        "tenant_reserve",
        "Permits that active tenants have not used of their parts",
        ShareFigures::reserved);
    show(
        meter,
        limits,
        "borrowed",
        "Requests in flight above the parts of their tenants",
        ShareFigures::borrowed);
  }

  /**
   * Registers how many requests Envoys refused because of a concurrency limit. Call once.
   *
   * @param limits passes the number of each limit with its rule, at every collection
   */
  public static void showRefusals(Meter meter, Consumer<BiConsumer<Rule, Long>> limits) {
    new OurCounters(meter)
        .labelled(
            PREFIX + "refused_by_envoys",
            "Requests that Envoys refused because of a concurrency limit, according to their logs",
            byRule(limits, Long::longValue));
  }

  private static <T> void show(
      Meter meter,
      Consumer<BiConsumer<Rule, T>> limits,
      String name,
      String description,
      ToLongFunction<T> figure) {
    meter
        .gaugeBuilder(PREFIX + name)
        .ofLongs()
        .setDescription(description)
        .buildWithCallback(byRule(limits, figure));
  }

  private static <T> Consumer<ObservableLongMeasurement> byRule(
      Consumer<BiConsumer<Rule, T>> limits, ToLongFunction<T> figure) {
    return OurCounters.sums(sum ->
        limits.accept((rule, figures) ->
            sum.accept(
                Attributes.of(DOMAIN, rule.domain(), RULE, rule.path()),
                figure.applyAsLong(figures))));
  }
}
