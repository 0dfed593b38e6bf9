package io.throttlekit.service.authz;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.MemoryCounters;
import io.throttlekit.service.admission.PolicyAdmission;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.RecordingConcurrencyListener;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.rls.ExtrasFactory;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.CheckMetrics;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.ManualScheduler;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** External authorization by some policies. */
public final class CheckFixture {
  public final ManualTime time = new ManualTime(0);
  public final RecordingConcurrencyListener gated = new RecordingConcurrencyListener();
  public final ConcurrencyLimiter gate =
      new ConcurrencyLimiter(time, this::runAfter, gated, () -> 1_500);
  public final RateLimitMetrics metrics;
  public final CheckFrontEnd frontEnd;
  private final ManualScheduler timer = new ManualScheduler(time);

  /** Creates it with one policy file; null for no policies yet. */
  public CheckFixture(
      @Nullable String policy,
      ExtAuthzConfig config,
      ResponseConfig response,
      CompatibilityConfig compatibility) {
    PolicyBook book = policy == null ? null : Book.of(policy);
    InMemoryStore store = new InMemoryStore(time, 1_000);
    metrics = Setup.metrics(() -> book, store);
    frontEnd =
        new CheckFrontEnd(
            config,
            ConfigLoader.defaults().grpc().limits().entryBytes(),
            new ExtrasFactory(response, compatibility),
            new PolicyAdmission(
                () -> book, new MemoryCounters(store), gate, compatibility, false, metrics),
            () -> book,
            metrics,
            new CheckMetrics(OpenTelemetry.noop().getMeter("test")));
  }

  /** Creates it with one policy file and the defaults of the service. */
  public static CheckFixture by(String policy, RequestDescriptor... descriptors) {
    return new CheckFixture(
        policy,
        new ExtAuthzConfig("d", List.of(descriptors), false),
        ConfigLoader.defaults().response(),
        Setup.NATIVE);
  }

  /** Returns a descriptor of a required header with the same name. */
  public static RequestDescriptor header(String key) {
    return new RequestDescriptor(List.of(new Entry(key, new Header(key), null)));
  }

  /** Returns a request with these headers, name then value. */
  public static CheckRequest asking(String... headers) {
    AttributeContext.Builder written = AttributeContext.newBuilder();
    for (int i = 0; i < headers.length; i += 2) {
      written.getRequestBuilder().getHttpBuilder().putHeaders(headers[i], headers[i + 1]);
    }
    return CheckRequest.newBuilder().setAttributes(written).build();
  }

  /** Returns a request on a route with these {@code context_extensions}. */
  public static CheckRequest onRoute(Map<String, String> context) {
    return CheckRequest.newBuilder()
        .setAttributes(AttributeContext.newBuilder().putAllContextExtensions(context))
        .build();
  }

  /** Returns how many tasks are scheduled. */
  public synchronized int pending() {
    return timer.size();
  }

  /** Advances the clock and runs the tasks that are due. */
  public synchronized void advance(long millis) {
    time.advance(millis);
    timer.run();
  }

  private synchronized void runAfter(long nanos, Runnable task) {
    timer.runAfter(nanos, task);
  }

  /** Returns the immediate answer. */
  public CheckResponse check(CheckRequest request) {
    return check(request.toByteArray());
  }

  /** Returns the immediate answer to a request with these headers. */
  public CheckResponse check(String... headers) {
    return check(asking(headers));
  }

  /** Returns the immediate answer to a message. */
  public CheckResponse check(byte[] message) {
    RateLimitRequest read = frontEnd.read(message);
    Answer answer = frontEnd.decide(read, new NeverLater());
    if (answer == null) {
      throw new AssertionError("is answered later");
    }
    try {
      return CheckResponse.parseFrom(frontEnd.write(read, answer));
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  private static final class NeverLater implements AnswerCallback {
    @Override
    public void answered(Answer answer) {
      throw new AssertionError("was answered at once: " + answer);
    }

    @Override
    public void failed(Throwable cause) {
      throw new AssertionError(cause);
    }
  }
}
