package io.throttlekit.envoy;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.WireFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;

/**
 * Parses messages of Envoys whatever bytes their strings contain.
 *
 * <p>Envoy copies headers of its clients into strings without a check. The generated classes reject
 * a whole message for one string that is not UTF-8, with everything else that is in it. Here each
 * malformed sequence of bytes in a string becomes U+FFFD, as in {@link
 * CodedInputStream#readString()}. A message that is nested too deeply to be parsed, such as
 * metadata that Envoy read from JSON of a client, becomes an empty one. Others are parsed once.
 */
public final class LenientParser {
  /** Messages below this depth become empty: the generated classes parse 100 levels. */
  private static final int MAX_DEPTH = 99;

  private static final byte[] EMPTY = {};

  /** The default is 4 KiB for each nested message, and a client may nest one in every two bytes. */
  private static final int BUFFER_BYTES = 64;

  private LenientParser() {}

  /**
   * Returns the message.
   *
   * @param prototype any message of its type
   * @throws InvalidProtocolBufferException if the bytes are not in the wire format of protobuf
   */
  @SuppressWarnings("unchecked") // the parser has the type of the prototype
  public static <M extends Message> M parse(M prototype, byte[] bytes)
      throws InvalidProtocolBufferException {
    try {
      return (M) prototype.getParserForType().parseFrom(bytes);
    } catch (InvalidProtocolBufferException rejected) {
      byte[] repaired = repaired(bytes, prototype.getDescriptorForType(), rejected);
      return (M) prototype.getParserForType().parseFrom(repaired);
    }
  }

  private static byte[] repaired(
      byte[] bytes, Descriptor type, InvalidProtocolBufferException rejected)
      throws InvalidProtocolBufferException {
    try {
      return repaired(bytes, type, 0);
    } catch (IOException malformed) {
      throw rejected;
    }
  }

  /** Returns the message itself if it need not be repaired. */
  @SuppressWarnings("ReferenceEquality") // else each level would compare all levels below again
  private static byte[] repaired(byte[] message, Descriptor type, int depth) throws IOException {
    CodedInputStream in = CodedInputStream.newInstance(message);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(0);
    CodedOutputStream out = CodedOutputStream.newInstance(bytes, BUFFER_BYTES);
    int copied = 0;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (WireFormat.getTagWireType(tag) != WireFormat.WIRETYPE_LENGTH_DELIMITED) {
        if (!in.skipField(tag)) {
          throw new InvalidProtocolBufferException("a group ends that did not begin");
        }
        continue;
      }
      int begin = in.getTotalBytesRead();
      byte[] content = in.readByteArray();
      FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
      byte[] repaired = field == null ? content : repaired(content, field, depth);
      if (repaired != content) {
        out.write(message, copied, begin - copied);
        out.writeByteArrayNoTag(repaired);
        copied = in.getTotalBytesRead();
      }
    }
    if (copied == 0) {
      return message;
    }
    out.write(message, copied, message.length - copied);
    out.flush();
    return bytes.toByteArray();
  }

  private static byte[] repaired(byte[] content, FieldDescriptor field, int depth)
      throws IOException {
    return switch (field.getType()) {
      case STRING -> {
        byte[] valid = new String(content, UTF_8).getBytes(UTF_8);
        yield Arrays.equals(valid, content) ? content : valid;
      }
      // the entries of a map are messages, too
      case MESSAGE ->
          depth < MAX_DEPTH ? repaired(content, field.getMessageType(), depth + 1) : EMPTY;
      default -> content;
    };
  }
}
