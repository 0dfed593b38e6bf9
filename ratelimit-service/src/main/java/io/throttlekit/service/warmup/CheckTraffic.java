package io.throttlekit.service.warmup;

import io.envoyproxy.envoy.service.auth.v3.AttributeContext;
import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.throttlekit.http2.HeaderBlocks;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The Checks of a warm-up, decided by the policies of {@link Traffic}: of users by a header, of
 * tenants by their route, and of paths. No policy has a concurrency limit.
 */
final class CheckTraffic {
  /** Different users, so that counters are created and found. */
  private static final int USERS = 500;

  private static final List<RequestDescriptor> DESCRIPTORS =
      List.of(
          new RequestDescriptor(List.of(new Entry("user", new Header("x-user"), null))),
          new RequestDescriptor(List.of(new Entry("closed", new Header("x-closed"), null))),
          new RequestDescriptor(
              List.of(
                  new Entry("tenant", new Context("tenant"), null),
                  new Entry("user", new Header("x-user"), "nobody"))),
          new RequestDescriptor(List.of(new Entry("path", Attribute.PATH_WITHOUT_QUERY, null))));

  private CheckTraffic() {}

  /**
   * Returns a configuration that describes the warm-up's Checks instead of those of {@code real}.
   */
  static ExtAuthzConfig config(ExtAuthzConfig real) {
    return new ExtAuthzConfig("warm-up", DESCRIPTORS, real.admitsUndescribed());
  }

  /** Returns the headers that Envoy sends with every Check. */
  static HeaderBlocks headers() {
    return HeaderBlocks.repeated(Traffic.envoy(AuthorizationGrpc.getCheckMethod()));
  }

  /** Returns the Checks, the same in every process. */
  static Messages messages() {
    return new Messages(IntStream.range(0, USERS).mapToObj(CheckTraffic::ofUser).toList());
  }

  private static byte[] ofUser(int user) {
    AttributeContext.Builder said = AttributeContext.newBuilder();
    var http =
        said.getRequestBuilder()
            .getHttpBuilder()
            .setMethod("GET")
            .setHost("shop.example")
            .setScheme("https")
            .setPath("/api/v" + user + "?page=2")
            .putHeaders(":authority", "shop.example")
            .putHeaders("user-agent", "warm-up")
            .putHeaders("x-request-id", "warm-up-" + user);
    if (user % 8 != 0) {
      http.putHeaders("x-user", "user-" + user);
    }
    if (user % 4 == 1) {
      http.putHeaders("x-closed", "for-" + user % 3);
    }
    if (user % 4 == 2) {
      said.putContextExtensions("tenant", "t");
    }
    said.getSourceBuilder()
        .getAddressBuilder()
        .getSocketAddressBuilder()
        .setAddress("203.0.113." + user % 256)
        .setPortValue(40_000 + user);
    return CheckRequest.newBuilder().setAttributes(said).build().toByteArray();
  }
}
