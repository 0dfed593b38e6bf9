package io.throttlekit.bench;

import static java.util.Objects.requireNonNull;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.telemetry.MeasuredPath;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Prints the types of this project that one leased request executes, from the gRPC handler to the
 * answer, and those that are executed in addition when its counter has no units.
 *
 * <p>{@link ExecutedTypes} counts the executions of every method while warm requests are decided. A
 * type is on the path if one of its methods is called for each of them; what runs beside requests,
 * such as sweeps, is not. The path of a missing lease ends at the interface of the store: each kind
 * of store has types of its own, and those of the store in memory are listed apart.
 */
public final class RequestPath {
  private static final String DOMAIN = "bench";
  private static final String POLICIES =
      """
      domain: bench
      descriptors:
        - {key: leased, rate_limit: {unit: day, requests_per_unit: 1000000000, tier: leased}}
        - key: one_by_one
          rate_limit:
            {unit: day, requests_per_unit: 1000000000, tier: leased, lease: {size: 1}}
      """;
  private static final String BENCH = "io.throttlekit.bench.";
  // Enough that the sizer has learned the demand and all classes are initialized.
  private static final int WARM_UP = 20_000;
  private static final int MEASURED = 50;

  private final ServerMethodDefinition<?, ?> method;

  private RequestPath(ServerServiceDefinition service) {
    this.method = service.getMethods().iterator().next();
  }

  /** Prints both lists. No options. */
  public static void main(String[] args) throws ReflectiveOperationException {
    Class<?> counted = new ExecutedTypes().loadClass(RequestPath.class.getName());
    counted.getDeclaredMethod("run").invoke(null);
  }

  /** Decides requests; called in the class loader that counts. */
  public static void run() {
    TimeSource time = TimeSource.system();
    Set<String> leased;
    Set<String> missing;
    Set<String> ofStore;
    try (InMemoryStore memory = new InMemoryStore(time, 1_000)) {
      leased = types(new Granting(), "leased", time);
      missing = types(new Granting(), "one_by_one", time);
      ofStore = types(memory, "one_by_one", time);
    }
    print("A leased request executes", leased);
    ofStore.removeAll(leased);
    ofStore.removeAll(missing);
    missing.removeAll(leased);
    print("A request without units executes in addition, up to the store,", missing);
    print("The store in memory executes", ofStore);
  }

  private static Set<String> types(CounterStore store, String key, TimeSource time) {
    PolicyStore policies = new PolicyStore();
    LoadResult loaded =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource("path", POLICIES)));
    policies.loaded(requireNonNull(loaded.book()), loaded.problems(), time.wallMillis());
    ServiceConfig config = ConfigLoader.defaults();
    TierSettings settings = new TierSettings(1_000, TimeUnit.SECONDS.toNanos(1), .1);
    try (Telemetry telemetry = Telemetry.start(config.telemetry());
        Tiers tiers = new Tiers(store, time, (_, _) -> {}, settings, TierListener.NONE)) {
      return new RequestPath(
              MeasuredPath.shared(config, policies, tiers, telemetry, time, null, null)
                  .path()
                  .service(null))
          .types(key);
    }
  }

  private static void print(String what, Set<String> types) {
    System.out.println(what + " " + types.size() + " types:");
    types.forEach(type -> System.out.println("  " + type));
  }

  private Set<String> types(String key) {
    byte[] request = request(key);
    for (int i = 0; i < WARM_UP; i++) {
      decide(request);
    }
    ExecutedTypes.clear();
    for (int i = 0; i < MEASURED; i++) {
      decide(request);
    }
    Set<String> types = ExecutedTypes.since(MEASURED);
    types.removeIf(type -> type.startsWith(BENCH));
    return types;
  }

  private void decide(byte[] request) {
    var handler = method.getServerCallHandler();
    @SuppressWarnings({"unchecked", "rawtypes"})
    ServerCall.Listener<InputStream> call =
        ((io.grpc.ServerCallHandler) handler)
            .startCall(new Call<>(method.getMethodDescriptor()), new Metadata());
    call.onMessage(new ByteArrayInputStream(request));
    call.onHalfClose();
  }

  private static byte[] request(String key) {
    return RateLimitRequest.newBuilder()
        .setDomain(DOMAIN)
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue("user-1")))
        .build()
        .toByteArray();
  }

  /** A store that grants every lease in full, without types of this project except the grant. */
  private static final class Granting implements CounterStore {
    private static final long DAY_MILLIS = TimeUnit.DAYS.toMillis(1);

    @Override
    public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
      long now = System.currentTimeMillis();
      long windowEnd = (now / DAY_MILLIS + 1) * DAY_MILLIS;
      return CompletableFuture.completedFuture(
          new LeaseGrant(request.units(), windowEnd, now, Integer.MAX_VALUE));
    }

    @Override
    public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
      throw new IllegalStateException("every request is leased");
    }

    @Override
    public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {}
  }

  private static final class Call<Q, A> extends ServerCall<Q, A> {
    private final MethodDescriptor<Q, A> method;

    Call(MethodDescriptor<Q, A> method) {
      this.method = method;
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(A message) {
      try (InputStream _ = method.streamResponse(message)) {
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }

    @Override
    public void close(Status status, Metadata trailers) {
      if (!status.isOk()) {
        throw new IllegalStateException("not answered: " + status);
      }
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<Q, A> getMethodDescriptor() {
      return method;
    }
  }
}
