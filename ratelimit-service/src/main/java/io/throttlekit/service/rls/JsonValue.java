package io.throttlekit.service.rls;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.protobuf.util.Values;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts JSON-like Java values to protobuf values. */
public final class JsonValue {

  private JsonValue() {}

  /** Returns the fields of a map as a protobuf message. */
  public static Struct struct(Map<?, ?> map) {
    Struct.Builder fields = Struct.newBuilder();
    map.forEach((key, value) -> fields.putFields(String.valueOf(key), of(value)));
    return fields.build();
  }

  /**
   * Returns maps, lists, texts, numbers, booleans and null as such, and any other value as its
   * text.
   */
  private static Value of(@Nullable Object value) {
    return switch (value) {
      case null -> Values.ofNull();
      case Boolean flag -> Values.of(flag);
      case Number number -> Values.of(number.doubleValue());
      case List<?> list -> Values.of(list.stream().map(JsonValue::of).toList());
      case Map<?, ?> map -> Values.of(struct(map));
      default -> Values.of(value.toString());
    };
  }
}
