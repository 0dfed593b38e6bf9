package io.throttlekit.service.authz;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.envoy.LenientParser;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.rls.DescriptorFields;
import io.throttlekit.service.rls.InvalidRequestException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converts an external authorization request to a request for admission. Immutable.
 *
 * @param maxEntryBytes maximum of a key or value in UTF-8, from 1
 */
record CheckReader(ExtAuthzConfig config, int maxEntryBytes) {
  /** Key of {@code context_extensions} for the domain of a route. */
  private static final String DOMAIN = "domain";

  /**
   * Reads the bytes of a {@code CheckRequest}.
   *
   * @return a request without descriptors if no configured descriptor applies
   * @throws InvalidRequestException if they are malformed, no domain is configured, or an entry is
   *     too long
   */
  RateLimitRequest read(byte[] message) {
    AttributeContext context;
    try {
      context = LenientParser.parse(CheckRequest.getDefaultInstance(), message).getAttributes();
    } catch (InvalidProtocolBufferException malformed) {
      throw new InvalidRequestException("the request is not a valid protobuf message");
    }
    String ofRoute = context.getContextExtensionsMap().get(DOMAIN);
    String domain = ofRoute == null ? config.domain() : ofRoute;
    if (domain.isEmpty()) {
      throw new InvalidRequestException(
          "no domain: set ext_authz.domain, or domain in the context_extensions of the route");
    }
    RequestAttributes attributes = new RequestAttributes(context);
    List<Descriptor> descriptors = new ArrayList<>(config.descriptors().size());
    for (RequestDescriptor configured : config.descriptors()) {
      Descriptor descriptor = descriptor(configured, attributes);
      if (descriptor != null) {
        descriptors.add(descriptor);
      }
    }
    return new RateLimitRequest(domain, descriptors, 0);
  }

  private @Nullable Descriptor descriptor(
      RequestDescriptor configured, RequestAttributes attributes) {
    String[] entries = new String[2 * configured.entries().size()];
    int size = 0;
    for (Entry entry : configured.entries()) {
      String sent = attributes.valueOf(entry.source());
      String value = sent == null ? entry.otherwise() : sent;
      // a missing entry without a default drops its descriptor, as in Envoy's filter
      if (value == null) {
        return null;
      }
      entries[size++] = entry.key();
      entries[size++] = value;
    }
    DescriptorFields.checkLengths(entries, size, maxEntryBytes);
    return new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
  }
}
