package io.throttlekit.envoy.filter;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.config.core.v3.ApiVersion;
import io.envoyproxy.envoy.config.core.v3.GrpcService;
import io.envoyproxy.envoy.config.core.v3.GrpcService.EnvoyGrpc;
import io.envoyproxy.envoy.config.core.v3.TypedExtensionConfig;
import io.envoyproxy.envoy.config.ratelimit.v3.RateLimitServiceConfig;
import io.envoyproxy.envoy.extensions.filters.http.ratelimit.v3.RateLimit;

/** The rate limit filter of a domain as a resource of extension discovery (ECDS). */
final class FilterResource {
  /** Type of the resources. */
  static final String TYPE_URL = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";

  private static final String PREFIX = "throttlekit/";

  /** Longest name of a resource, in characters. */
  private static final int MAX_NAME = 256;

  /** {@code rate_limits} of the filter, which the generated class does not know yet. */
  private static final int RATE_LIMITS = 17;

  private FilterResource() {}

  /** Returns whether a name is that of a filter: {@code throttlekit/} and a domain. */
  static boolean isName(String name) {
    return name.startsWith(PREFIX)
        && name.length() > PREFIX.length()
        && name.length() <= MAX_NAME
        && name.chars().noneMatch(Character::isISOControl);
  }

  static String domain(String name) {
    return name.substring(PREFIX.length());
  }

  static Any of(FilterActions actions, FilterSettings settings) {
    UnknownFieldSet.Field.Builder lists = UnknownFieldSet.Field.newBuilder();
    actions.rateLimits().forEach(list -> lists.addLengthDelimited(list.toByteString()));
    RateLimitServiceConfig service =
        RateLimitServiceConfig.newBuilder()
            .setTransportApiVersion(ApiVersion.V3)
            .setGrpcService(
                GrpcService.newBuilder()
                    .setEnvoyGrpc(EnvoyGrpc.newBuilder().setClusterName(settings.cluster())))
            .build();
    RateLimit filter =
        RateLimit.newBuilder()
            .setDomain(actions.domain())
            .setTimeout(
                Duration.newBuilder()
                    .setSeconds(settings.timeout().toSeconds())
                    .setNanos(settings.timeout().getNano()))
            .setFailureModeDeny(settings.failureModeDeny())
            .setRateLimitService(service)
            .setUnknownFields(
                UnknownFieldSet.newBuilder().addField(RATE_LIMITS, lists.build()).build())
            .build();
    return Any.pack(
        TypedExtensionConfig.newBuilder()
            .setName(PREFIX + actions.domain())
            .setTypedConfig(Any.pack(filter))
            .build());
  }
}
