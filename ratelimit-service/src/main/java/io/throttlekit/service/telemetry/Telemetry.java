package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.exporter.prometheus.PrometheusMetricReader;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.ExemplarFilter;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.SdkMeterProviderBuilder;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.resources.ResourceBuilder;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.service.telemetry.mapping.MappedMetrics;
import io.throttlekit.service.telemetry.otlp.Otlp;
import io.throttlekit.service.telemetry.traces.DecisionTracing;
import io.throttlekit.service.telemetry.traces.SharedLimits;
import io.throttlekit.service.telemetry.traces.SpanContents;
import io.throttlekit.service.telemetry.traces.TracedValues;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The OpenTelemetry SDK of this process, configured by code: it sets no globals and reads no
 * environment variables. Thread-safe.
 */
public final class Telemetry implements AutoCloseable {
  private static final String SCOPE = "io.throttlekit";

  /** How long {@link #close} waits for the final exports: a collector may be away. */
  static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(3);

  /**
   * Disables the SDK's limit: {@link RateLimitMetrics} bounds its series and keeps their sums
   * right.
   */
  private static final int UNBOUNDED = Integer.MAX_VALUE - 1;

  private final SdkMeterProvider meters;
  private final @Nullable SdkTracerProvider tracers;
  private final @Nullable Scrape scrape;
  private final double samplingRatio;
  private final TracedValues tracedValues;

  Telemetry(
      SdkMeterProvider meters,
      @Nullable SdkTracerProvider tracers,
      @Nullable Scrape scrape,
      double samplingRatio,
      TracedValues tracedValues) {
    this.meters = meters;
    this.tracers = tracers;
    this.scrape = scrape;
    this.samplingRatio = samplingRatio;
    this.tracedValues = tracedValues;
  }

  /** Starts the configured exporters of a process that is one of a kind. */
  public static Telemetry start(TelemetryConfig config) {
    return start(config, "", TimeSource.system());
  }

  /**
   * Starts the configured exporters.
   *
   * @param replica id of this process if none is configured; empty for none
   * @throws IllegalArgumentException if the OTLP endpoint or a TLS file is not valid
   */
  public static Telemetry start(TelemetryConfig config, String replica, TimeSource time) {
    Resource resource = resource(config, replica);
    SdkMeterProviderBuilder meters =
        SdkMeterProvider.builder()
            .setResource(resource)
            .setExemplarFilter(ExemplarFilter.alwaysOff());
    Scrape scrape = null;
    if (config.prometheus()) {
      PrometheusMetricReader reader =
          PrometheusMetricReader.builder()
              .setOtelScopeLabelsEnabled(false)
              .setTargetInfoMetricEnabled(true)
              .build();
      meters.registerMetricReader(reader, any -> UNBOUNDED);
      Path mappings = config.metricMappings();
      scrape = new Scrape(reader, mappings == null ? null : MappedMetrics.read(mappings));
    }
    if (config.otlpMetrics()) {
      meters.registerMetricReader(
          PeriodicMetricReader.builder(Otlp.metrics(config.metricExport(), time)).build(),
          any -> UNBOUNDED);
    }
    SdkTracerProvider tracers =
        config.tracing()
            ? SdkTracerProvider.builder()
                .setResource(resource)
                .addSpanProcessor(
                    BatchSpanProcessor.builder(Otlp.spans(config.spanExport(), time)).build())
                .build()
            : null;
    return new Telemetry(
        meters.build(),
        tracers,
        scrape,
        config.samplingRatio(),
        new TracedValues(config.traceDescriptors()));
  }

  private static Resource resource(TelemetryConfig config, String replica) {
    ResourceBuilder resource =
        Resource.getDefault().toBuilder().put("service.name", config.serviceName());
    if (!config.serviceNamespace().isEmpty()) {
      resource.put("service.namespace", config.serviceNamespace());
    }
    String instance = config.serviceInstance().isEmpty() ? replica : config.serviceInstance();
    if (!instance.isEmpty()) {
      resource.put("service.instance.id", instance);
    }
    return resource.build();
  }

  /** Returns the meter for all instruments. */
  public Meter meter() {
    return meters.get(SCOPE);
  }

  /**
   * Returns the tracer for children of the spans of {@link #tracing()}; a no-op if tracing is off.
   */
  public Tracer tracer() {
    return tracers == null ? TracerProvider.noop().get(SCOPE) : tracers.get(SCOPE);
  }

  /** Returns the metrics for Prometheus, or null if that is off. */
  public @Nullable Scrape scrape() {
    return scrape;
  }

  /** Returns how spans name the values of requests. */
  public TracedValues tracedValues() {
    return tracedValues;
  }

  /** Returns the tracing of decisions, or null if it is off. */
  public @Nullable DecisionTracing tracing() {
    return tracing((_, _) -> null, false);
  }

  /**
   * Returns the tracing of decisions, or null if it is off.
   *
   * @param limits states of the concurrency limits that decide
   * @param cachedDenyDefault whether rules that name no tier cache refusals
   */
  public @Nullable DecisionTracing tracing(SharedLimits limits, boolean cachedDenyDefault) {
    return tracers == null
        ? null
        : DecisionTracing.on(tracers.get(SCOPE), samplingRatio)
            .with(new SpanContents(tracedValues, limits, cachedDenyDefault));
  }

  /** Exports what is pending for at most {@link #CLOSE_TIMEOUT}, and stops. */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /** Exports what is pending for at most this time, and stops. */
  void close(Duration timeout) {
    // On another thread, because the SDK's own shutdown may block.
    Thread stopping = Thread.ofVirtual().start(() -> stop(timeout));
    try {
      if (!stopping.join(timeout)) {
        stopping.interrupt();
      }
    } catch (InterruptedException hurried) {
      stopping.interrupt();
      Thread.currentThread().interrupt();
    }
  }

  private void stop(Duration timeout) {
    CompletableResultCode spans =
        tracers == null ? CompletableResultCode.ofSuccess() : tracers.shutdown();
    CompletableResultCode.ofAll(List.of(meters.shutdown(), spans))
        .join(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }
}
