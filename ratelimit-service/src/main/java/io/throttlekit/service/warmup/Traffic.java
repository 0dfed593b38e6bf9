package io.throttlekit.service.warmup;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.MethodDescriptor;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.throttlekit.http2.HeaderBlocks;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The requests of a warm-up and their policies, as diverse as those of a mesh.
 *
 * <p>The JIT compiler omits branches that were not taken during the warm-up, and the first request
 * that needs one deoptimizes the code. So there are traced and untraced clients, new and known
 * counters, one and several descriptors, admitted and refused requests. No policy has a concurrency
 * limit, so that no permit is acquired.
 */
final class Traffic {
  static final String POLICIES =
      """
      domain: warm-up
      descriptors:
        - {key: user, rate_limit: {unit: minute, requests_per_unit: 1000000}}
        - {key: closed, rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: path, value: "/api/*", rate_limit: {unit: hour, requests_per_unit: 4294967295}}
        - key: path
          value: /shop/checkout
          descriptors:
            - {key: remote_address, rate_limit: {unit: hour, requests_per_unit: 1000000000}}
        - key: tenant
          descriptors:
            - {key: user, rate_limit: {unit: second, requests_per_unit: 100}}
      """;

  /**
   * Returns the policies of the warm-up.
   *
   * @param shared whether the service shares its counters, and so has tiers
   */
  static String policies(boolean shared) {
    return shared
        ? POLICIES
            .replace("requests_per_unit: 1000000}", "requests_per_unit: 1000000, tier: leased}")
            .replace("requests_per_unit: 1}", "requests_per_unit: 1, tier: cached_deny}")
            .replace("1000000000}", "1000000000, tier: leased, lease: {size: 100}}")
        : POLICIES;
  }

  /** A timeout that no request exceeds, however slow a process is that has just started. */
  static final String PATIENT_MILLIS = "60000";

  /** Different users, so that counters are created and found. */
  private static final int USERS = 2_000;

  /** Different trace headers, sent in turn. */
  private static final int TRACES = 16;

  private final List<Caller> callers;

  /**
   * Creates the requests of a mesh's clients, the same in every process.
   *
   * @param checked whether the service serves external authorization, too
   */
  Traffic(boolean checked) {
    Messages limits =
        new Messages(IntStream.range(0, USERS).boxed().flatMap(Traffic::ofUser).toList());
    List<Caller> all = new ArrayList<>();
    clients().forEach(headers -> all.add(new Caller(headers, limits)));
    if (checked) {
      all.add(new Caller(CheckTraffic.headers(), CheckTraffic.messages()));
    }
    callers = List.copyOf(all);
  }

  /** Returns the connections to open, for each server anew. */
  List<Caller> callers() {
    return callers;
  }

  /**
   * Returns the headers of four connections: two Envoys, an Envoy that traces, and grpc-java's
   * client.
   */
  private static List<HeaderBlocks> clients() {
    return List.of(
        HeaderBlocks.repeated(envoy()),
        HeaderBlocks.repeated(grpcJava()),
        HeaderBlocks.spelledOut(IntStream.range(0, TRACES).mapToObj(Traffic::traced).toList()),
        HeaderBlocks.repeated(envoy()));
  }

  private static Http2Headers call(MethodDescriptor<?, ?> method) {
    return new DefaultHttp2Headers()
        .method("POST")
        .scheme("http")
        .path("/" + method.getFullMethodName())
        .authority("warm-up")
        .set("te", "trailers")
        .set("content-type", "application/grpc");
  }

  private static Http2Headers envoy() {
    return envoy(RateLimitServiceGrpc.getShouldRateLimitMethod());
  }

  /** Returns the headers that Envoy sends with every call of {@code method}. */
  static Http2Headers envoy(MethodDescriptor<?, ?> method) {
    return call(method)
        .set("grpc-timeout", PATIENT_MILLIS + "m")
        .set("x-envoy-expected-rq-timeout-ms", PATIENT_MILLIS)
        .set("x-envoy-internal", "true")
        .set("x-forwarded-for", "192.0.2.17");
  }

  private static Http2Headers grpcJava() {
    return call(RateLimitServiceGrpc.getShouldRateLimitMethod())
        .set("user-agent", "grpc-java-netty")
        .set("grpc-accept-encoding", "gzip");
  }

  private static Http2Headers traced(int request) {
    String parent =
        "00-4bf92f3577b34da6a3ce929d0e0e%04x-00f067aa0ba9%04x-00".formatted(request, request);
    return envoy().set("x-request-id", "warm-up-" + request).set("traceparent", parent);
  }

  private static Stream<byte[]> ofUser(int user) {
    String name = "user-" + user;
    return Stream.of(
        request(List.of("user", name)),
        request(List.of("user", "everyone")),
        request(List.of("path", "/shop/checkout", "remote_address", "203.0.113." + user % 256)),
        switch (user % 8) {
          case 0 -> request(List.of("closed", "for-" + user % 3));
          case 1 -> request(List.of("path", "/api/v" + user));
          case 2 ->
              request(List.of("path", "/shop/checkout", "remote_address", "2001:db8::" + user));
          case 3 -> request(List.of("tenant", "t", "user", name));
          case 4 -> request(List.of("unknown", name));
          case 5 ->
              request(
                  List.of("user", name),
                  List.of("path", "/api/v2"),
                  List.of("tenant", "t", "user", "b"),
                  List.of("unknown", "b"));
          default ->
              request(
                  List.of("path", "/shop/checkout", "remote_address", "198.51.100." + user % 256));
        });
  }

  @SafeVarargs
  private static byte[] request(List<String>... descriptors) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("warm-up");
    for (List<String> entries : descriptors) {
      RateLimitDescriptor.Builder descriptor = request.addDescriptorsBuilder();
      for (int i = 0; i < entries.size(); i += 2) {
        descriptor.addEntriesBuilder().setKey(entries.get(i)).setValue(entries.get(i + 1));
      }
    }
    return request.build().toByteArray();
  }
}
