package io.throttlekit.service.authz;

import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext.HttpRequest;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Constant;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Header;
import io.throttlekit.service.config.RequestDescriptor.Source;
import org.jspecify.annotations.Nullable;

/** The attributes of one request as sent by Envoy. For one thread. */
final class RequestAttributes {
  private final AttributeContext context;
  private final HttpRequest http;

  RequestAttributes(AttributeContext context) {
    this.context = context;
    this.http = context.getRequest().getHttp();
  }

  /** Returns the value of the source for the request, or null if it has none. */
  @Nullable String valueOf(Source source) {
    return switch (source) {
      case Header header -> header(header.name());
      case Context extension -> context.getContextExtensionsMap().get(extension.key());
      case Constant constant -> constant.value();
      case Attribute attribute -> {
        String value = attribute(attribute);
        yield value.isEmpty() ? null : value; // protobuf does not distinguish absent from empty
      }
    };
  }

  private String attribute(Attribute attribute) {
    return switch (attribute) {
      case METHOD -> http.getMethod();
      case PATH -> http.getPath();
      case PATH_WITHOUT_QUERY -> withoutQuery(http.getPath());
      case HOST -> http.getHost();
      case SCHEME -> http.getScheme();
      case SOURCE_ADDRESS -> context.getSource().getAddress().getSocketAddress().getAddress();
      case PRINCIPAL -> context.getSource().getPrincipal();
    };
  }

  private static String withoutQuery(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  private @Nullable String header(String name) {
    String value = http.getHeadersMap().get(name);
    return value != null || !http.hasHeaderMap() ? value : rawHeader(name);
  }

  /**
   * Returns a header as Envoy sends it with {@code encode_raw_headers}. Several headers of one name
   * are joined with commas, as Envoy does.
   */
  private @Nullable String rawHeader(String name) {
    String joined = null;
    for (HeaderValue header : http.getHeaderMap().getHeadersList()) {
      if (header.getKey().equals(name)) {
        String value =
            header.getRawValue().isEmpty()
                ? header.getValue()
                : header.getRawValue().toStringUtf8();
        joined = joined == null ? value : joined + "," + value;
      }
    }
    return joined;
  }
}
