package io.throttlekit.service.telemetry.traces;

import io.grpc.Metadata;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TraceStateBuilder;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The trace context in a caller's headers: W3C {@code traceparent} and {@code tracestate},
 * otherwise B3 in one header or in several. Malformed headers count as absent.
 *
 * @param sampled the caller's sampling decision
 * @param context the caller's span; not valid if there is none or it is not sampled
 */
record TraceParent(Sampled sampled, SpanContext context) {

  /** Whether the caller's trace is sampled. */
  enum Sampled {
    YES,
    NO,
    UNDECIDED
  }

  private static final Metadata.Key<String> TRACEPARENT = key("traceparent");
  private static final Metadata.Key<String> TRACESTATE = key("tracestate");
  private static final Metadata.Key<String> B3 = key("b3");
  private static final Metadata.Key<String> B3_TRACE_ID = key("x-b3-traceid");
  private static final Metadata.Key<String> B3_SPAN_ID = key("x-b3-spanid");
  private static final Metadata.Key<String> B3_SAMPLED = key("x-b3-sampled");
  private static final Metadata.Key<String> B3_FLAGS = key("x-b3-flags");

  private static final TraceParent NONE =
      new TraceParent(Sampled.UNDECIDED, SpanContext.getInvalid());
  private static final TraceParent UNSAMPLED =
      new TraceParent(Sampled.NO, SpanContext.getInvalid());

  // version-traceid-spanid-flags, with 2, 32, 16 and 2 digits
  private static final int TRACE_ID_AT = 3;
  private static final int SPAN_ID_AT = 36;
  private static final int FLAGS_AT = 53;
  private static final int TRACEPARENT_LENGTH = 55;
  // well above the 512 characters that W3C requires to propagate
  private static final int MAX_TRACESTATE_LENGTH = 4096;
  // the maximum of W3C Trace Context
  private static final int MAX_TRACESTATE_MEMBERS = 32;

  static TraceParent of(Metadata headers) {
    String traceparent = headers.get(TRACEPARENT);
    if (traceparent != null) {
      TraceParent w3c = w3c(traceparent, headers);
      if (w3c != null) {
        return w3c;
      }
    }
    String single = headers.get(B3);
    if (single != null) {
      TraceParent b3 = b3(single);
      if (b3 != null) {
        return b3;
      }
    }
    return b3(headers);
  }

  private static @Nullable TraceParent w3c(String text, Metadata headers) {
    if (text.length() < TRACEPARENT_LENGTH
        || text.charAt(2) != '-'
        || text.charAt(SPAN_ID_AT - 1) != '-'
        || text.charAt(FLAGS_AT - 1) != '-') {
      return null;
    }
    int version = hexByte(text, 0);
    int flags = hexByte(text, FLAGS_AT);
    // W3C Trace Context: version ff is invalid
    if (version < 0 || version == 0xff || flags < 0) {
      return null;
    }
    boolean longer = text.length() > TRACEPARENT_LENGTH;
    // later versions may append fields after a dash, version 00 may not
    if (longer && (version == 0 || text.charAt(TRACEPARENT_LENGTH) != '-')) {
      return null;
    }
    String traceId = text.substring(TRACE_ID_AT, TRACE_ID_AT + TraceId.getLength());
    String spanId = text.substring(SPAN_ID_AT, SPAN_ID_AT + SpanId.getLength());
    if (!TraceId.isValid(traceId) || !SpanId.isValid(spanId)) {
      return null;
    }
    if ((flags & TraceFlags.getSampled().asByte()) == 0) {
      return UNSAMPLED;
    }
    return new TraceParent(
        Sampled.YES,
        SpanContext.createFromRemoteParent(
            traceId, spanId, TraceFlags.getSampled(), traceState(headers.get(TRACESTATE))));
  }

  private static TraceState traceState(@Nullable String text) {
    if (text == null || text.length() > MAX_TRACESTATE_LENGTH) {
      return TraceState.getDefault();
    }
    String[] members = text.split(",", -1);
    if (members.length > MAX_TRACESTATE_MEMBERS) {
      return TraceState.getDefault();
    }
    TraceStateBuilder state = TraceState.builder();
    for (int i = members.length - 1; i >= 0; i--) { // the builder prepends
      String member = members[i].strip();
      int equals = member.indexOf('=');
      if (equals > 0) {
        state.put(member.substring(0, equals), member.substring(equals + 1));
      }
    }
    return state.build();
  }

  /** Parses {@code trace-span[-sampled[-parent]]}, or the sampling decision alone. */
  private static @Nullable TraceParent b3(String single) {
    String[] parts = single.split("-", -1);
    if (parts.length == 1) {
      return alone(parts[0]);
    }
    return parts.length > 4 ? null : b3(parts[0], parts[1], parts.length == 2 ? "" : parts[2]);
  }

  private static TraceParent b3(Metadata headers) {
    String flags = headers.get(B3_FLAGS);
    String decision = headers.get(B3_SAMPLED);
    // B3: the debug flag implies sampling
    String sampled = "1".equals(flags) ? "d" : decision == null ? "" : decision;
    String traceId = headers.get(B3_TRACE_ID);
    String spanId = traceId == null ? null : headers.get(B3_SPAN_ID);
    TraceParent parent =
        traceId != null && spanId != null ? b3(traceId, spanId, sampled) : alone(sampled);
    return parent != null ? parent : NONE;
  }

  private static @Nullable TraceParent b3(String traceId, String spanId, String sampled) {
    String trace = padded(traceId.toLowerCase(Locale.ROOT));
    String span = spanId.toLowerCase(Locale.ROOT);
    Sampled decision = b3Decision(sampled);
    if (decision == null || !TraceId.isValid(trace) || !SpanId.isValid(span)) {
      return null;
    }
    return decision == Sampled.NO
        ? UNSAMPLED
        : new TraceParent(
            decision,
            SpanContext.createFromRemoteParent(
                trace, span, TraceFlags.getSampled(), TraceState.getDefault()));
  }

  private static @Nullable TraceParent alone(String sampled) {
    Sampled decision = b3Decision(sampled);
    if (decision == null || decision == Sampled.UNDECIDED) {
      return null;
    }
    return decision == Sampled.NO
        ? UNSAMPLED
        : new TraceParent(Sampled.YES, SpanContext.getInvalid());
  }

  private static @Nullable Sampled b3Decision(String sampled) {
    return switch (sampled) {
      case "1", "d", "true" -> Sampled.YES;
      case "0", "false" -> Sampled.NO;
      case "" -> Sampled.UNDECIDED;
      default -> null;
    };
  }

  private static String padded(String traceId) {
    return traceId.length() == SpanId.getLength()
        ? "0".repeat(SpanId.getLength()) + traceId
        : traceId;
  }

  /** Returns the value of two lower-case hexadecimal digits, or −1 if they are not. */
  private static int hexByte(String text, int at) {
    int high = hexDigit(text.charAt(at));
    int low = hexDigit(text.charAt(at + 1));
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }

  private static int hexDigit(char digit) {
    // W3C Trace Context: digits in upper case are invalid.
    return Character.isUpperCase(digit) ? -1 : Character.digit(digit, 16);
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
