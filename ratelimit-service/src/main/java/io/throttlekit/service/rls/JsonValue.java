package io.throttlekit.service.rls;

import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts JSON-like Java values to protobuf values. */
final class JsonValue {

  private JsonValue() {}

  /**
   * Returns maps, lists, texts, numbers, booleans and null as such, and any other value as its
   * text.
   */
  static Value of(@Nullable Object value) {
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
      case Map<?, ?> map -> {
        Struct.Builder fields = Struct.newBuilder();
        map.forEach((key, element) -> fields.putFields(String.valueOf(key), of(element)));
        result.setStructValue(fields);
      }
      default -> result.setStringValue(value.toString());
    }
    return result.build();
  }
}
