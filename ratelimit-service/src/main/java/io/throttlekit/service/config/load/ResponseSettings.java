package io.throttlekit.service.config.load;

import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.config.ResponseConfig.RateLimitHeaders;

/** Settings of the sections {@code response} and {@code compatibility}. */
final class ResponseSettings extends Section {
  private static final ResponseConfig DEFAULTS = ResponseConfig.defaults();
  private static final RateLimitHeaders HEADERS = DEFAULTS.headers();
  private static final CompatibilityConfig COMPATIBILITY = CompatibilityConfig.defaults();

  final Setting<Boolean> headersEnabled = flag("response.headers.enabled", HEADERS.enabled());
  final Setting<String> headersLimit =
      setting("response.headers.limit", Forms.headerName(), HEADERS.limit());
  final Setting<String> headersRemaining =
      setting("response.headers.remaining", Forms.headerName(), HEADERS.remaining());
  final Setting<String> headersReset =
      setting("response.headers.reset", Forms.headerName(), HEADERS.reset());
  final Setting<Boolean> retryAfter = flag("response.retry_after", DEFAULTS.retryAfter());
  private final Setting<Boolean> structuredHeaders =
      flag("response.structured_headers", DEFAULTS.structuredHeaders());
  private final Setting<String> deniedContentType =
      setting(
          "response.denied_body.content_type",
          Forms.headerValue(),
          DEFAULTS.deniedBody().contentType());
  private final Setting<String> deniedText =
      setting("response.denied_body.text", Forms.text(), DEFAULTS.deniedBody().text());
  final Setting<Boolean> dynamicMetadata =
      flag("response.dynamic_metadata", DEFAULTS.dynamicMetadata());

  final Setting<Boolean> chargeRejected =
      flag("compatibility.charge_rejected", COMPATIBILITY.chargeRejected());
  final Setting<Boolean> shadowMode = flag("compatibility.shadow_mode", COMPATIBILITY.shadowMode());
  final Setting<Boolean> quotaMode = flag("compatibility.quota_mode", COMPATIBILITY.quotaMode());

  ResponseConfig response(SettingValues values) {
    return new ResponseConfig(
        new RateLimitHeaders(
            values.get(headersEnabled),
            values.get(headersLimit),
            values.get(headersRemaining),
            values.get(headersReset)),
        values.get(retryAfter),
        values.get(structuredHeaders),
        new DeniedBody(values.get(deniedContentType), values.get(deniedText)),
        values.get(dynamicMetadata));
  }

  CompatibilityConfig compatibility(SettingValues values) {
    return new CompatibilityConfig(
        values.get(chargeRejected), values.get(shadowMode), values.get(quotaMode));
  }
}
