package io.throttlekit.service.rls;

import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
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
    Value.Builder result = Value.newBuilder();
    switch (value) {
      case null -> result.setNullValue(NullValue.NULL_VALUE);
      case Boolean flag -> result.setBoolValue(flag);
      case Number number -> result.setNumberValue(number.doubleValue());
      case List<?> list -> {
        ListValue.Builder values = ListValue.newBuilder();
        list.forEach(element -> values.addValues(of(element)));
        result.setListValue(values);
      }
      case Map<?, ?> map -> result.setStructValue(struct(map));
      default -> result.setStringValue(value.toString());
    }
    return result.build();
  }
}
