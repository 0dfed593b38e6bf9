package io.throttlekit.service.rls;

import com.google.gson.stream.JsonWriter;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.rls.ResponseExtras.Header;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes an answer in protobuf's JSON mapping of {@code RateLimitResponse}: the fields in the order
 * of their numbers, without those that are zero or empty. For one answer.
 */
final class ResponseJson {
  private final StringWriter text = new StringWriter();
  private final JsonWriter json = new JsonWriter(text);

  private ResponseJson() {
    json.setHtmlSafe(true); // as protobuf's own printer
  }

  static String of(Answer answer, ResponseExtras extras) {
    ResponseJson response = new ResponseJson();
    try {
      response.write(answer, extras);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return response.text.toString();
  }

  private void write(Answer answer, ResponseExtras extras) throws IOException {
    json.beginObject();
    json.name("overallCode").value(code(!answer.admitted()));
    if (!answer.verdicts().isEmpty()) {
      json.name("statuses").beginArray();
      for (Verdict verdict : answer.verdicts()) {
        status(verdict);
      }
      json.endArray();
    }
    if (!extras.headers().isEmpty()) {
      json.name("responseHeadersToAdd").beginArray();
      for (Header header : extras.headers()) {
        json.beginObject();
        unlessEmpty("key", header.name());
        unlessEmpty("value", header.value());
        json.endObject();
      }
      json.endArray();
    }
    byte[] body = extras.body().getBytes(StandardCharsets.UTF_8);
    unlessEmpty("rawBody", Base64.getEncoder().encodeToString(body));
    if (!extras.metadata().isEmpty()) {
      json.name("dynamicMetadata");
      value(extras.metadata());
    }
    json.endObject();
  }

  private void status(Verdict verdict) throws IOException {
    json.beginObject();
    json.name("code").value(code(verdict.refused()));
    Rule rule = verdict.rule();
    boolean limited = rule != null && verdict.decision() != null;
    if (rule != null && limited) {
      json.name("currentLimit").beginObject();
      unlessZero("requestsPerUnit", verdict.requestsPerUnit());
      Limit limit = verdict.limit();
      LimitUnit unit = limit == null ? null : limit.unit();
      unlessEmpty("unit", unit == null ? "" : unit.name());
      unlessEmpty("name", rule.name());
      json.endObject();
    }
    unlessZero("limitRemaining", RateLimitFrontEnd.remaining(verdict));
    if (limited) {
      json.name("durationUntilReset").value(verdict.secondsUntilReset() + "s");
    }
    json.endObject();
  }

  private static String code(boolean refused) {
    return refused ? "OVER_LIMIT" : "OK";
  }

  /** Writes a number, which protobuf limits to 32 bits without a sign. */
  private void unlessZero(String name, long number) throws IOException {
    if (number != 0) {
      json.name(name).value(Math.min(number, RateLimitFrontEnd.UINT32_MAX));
    }
  }

  private void unlessEmpty(String name, String string) throws IOException {
    if (!string.isEmpty()) {
      json.name(name).value(string);
    }
  }

  private void value(@Nullable Object value) throws IOException {
    switch (value) {
      case null -> json.nullValue();
      case Boolean flag -> json.value(flag);
      // JSON has no number for NaN and infinities, so they become texts, as of protobuf's printer.
      case Number number when Double.isFinite(number.doubleValue()) ->
          json.value(number.doubleValue());
      case List<?> list -> {
        json.beginArray();
        for (Object element : list) {
          value(element);
        }
        json.endArray();
      }
      case Map<?, ?> map -> {
        json.beginObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          json.name(String.valueOf(entry.getKey()));
          value(entry.getValue());
        }
        json.endObject();
      }
      default -> json.value(value.toString());
    }
  }
}
