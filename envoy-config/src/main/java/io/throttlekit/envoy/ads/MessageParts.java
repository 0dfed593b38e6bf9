package io.throttlekit.envoy.ads;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.WireFormat;
import java.io.IOException;

/**
 * Counts the parts of a serialized message, which decide how much memory it takes: the messages in
 * it, at any depth, and the fields that its type does not have. A part may have two bytes, so that
 * the length says little. Needs no memory itself.
 */
public final class MessageParts {
  private static final int MAX_DEPTH = 100; // messages nested deeper cannot be read

  private final int max;
  private int parts;

  private MessageParts(int max) {
    this.max = max;
  }

  /**
   * Returns the number of parts up to where the message is broken, if it is.
   *
   * @param max the count ends when there are more
   */
  public static int count(CodedInputStream message, Descriptor type, int max) {
    MessageParts counted = new MessageParts(max);
    try {
      counted.read(message, type, 0);
    } catch (IOException e) {
      return counted.parts; // reported when the message is read
    }
    return counted.parts;
  }

  private void read(CodedInputStream in, Descriptor type, int depth) throws IOException {
    for (int tag = in.readTag(); tag != 0 && parts <= max; tag = in.readTag()) {
      FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
      boolean isMessage =
          field != null
              && field.getJavaType() == JavaType.MESSAGE
              && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
      if (isMessage && depth < MAX_DEPTH) {
        parts++;
        int outer = in.pushLimit(in.readRawVarint32());
        read(in, field.getMessageType(), depth + 1);
        in.popLimit(outer);
      } else {
        parts += field == null ? 1 : 0;
        in.skipField(tag);
      }
    }
  }
}
