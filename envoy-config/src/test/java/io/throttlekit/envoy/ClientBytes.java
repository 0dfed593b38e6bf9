package io.throttlekit.envoy;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * A message as Envoy serializes it with any bytes in its strings, and the same message with U+FFFD
 * for those that are not UTF-8.
 */
@SuppressWarnings("ArrayRecordComponent") // compared by no test
public record ClientBytes(byte[] sent, Message read) {

  /** Replaces random bytes in every string of a message, map keys and nested messages included. */
  public static ClientBytes in(Message message, RandomGenerator random) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    Message.Builder read = message.newBuilderForType();
    try {
      for (Map.Entry<FieldDescriptor, Object> set : message.getAllFields().entrySet()) {
        FieldDescriptor field = set.getKey();
        List<?> values = field.isRepeated() ? (List<?>) set.getValue() : List.of(set.getValue());
        for (Object value : values) {
          add(read, field, write(out, message, field, value, random));
        }
      }
      out.flush();
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
    return new ClientBytes(bytes.toByteArray(), read.build());
  }

  private static Object write(
      CodedOutputStream out,
      Message message,
      FieldDescriptor field,
      Object value,
      RandomGenerator random)
      throws IOException {
    return switch (field.getType()) {
      case STRING -> {
        byte[] changed = changed((String) value, random);
        out.writeByteArray(field.getNumber(), changed);
        yield new String(changed, UTF_8);
      }
      case MESSAGE -> {
        ClientBytes nested = in((Message) value, random);
        out.writeByteArray(field.getNumber(), nested.sent());
        yield nested.read();
      }
      default -> {
        Message.Builder alone = message.newBuilderForType();
        add(alone, field, value);
        out.writeRawBytes(alone.buildPartial().toByteArray());
        yield value;
      }
    };
  }

  private static void add(Message.Builder builder, FieldDescriptor field, Object value) {
    if (field.isRepeated()) {
      builder.addRepeatedField(field, value);
    } else {
      builder.setField(field, value);
    }
  }

  private static byte[] changed(String text, RandomGenerator random) {
    byte[] bytes = text.getBytes(UTF_8);
    for (int left = bytes.length == 0 ? 0 : random.nextInt(4); left > 0; left--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    return bytes;
  }
}
