package io.throttlekit.descriptors.source;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Decodes bytes to text that can be parsed, and keeps the place of malformed bytes. */
public final class SourceText {
  /** Largest size of a policy file. */
  public static final int MAX_BYTES = 16 * 1024 * 1024;

  private SourceText() {}

  /**
   * Decodes UTF-8, or UTF-16 after its byte order mark; each malformed byte becomes U+DC00 + byte.
   */
  public static String decode(byte[] bytes) {
    if (startsWith(bytes, 0xFE, 0xFF) || startsWith(bytes, 0xFF, 0xFE)) {
      return new String(bytes, StandardCharsets.UTF_16);
    }
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    // One char per byte is enough: no UTF-8 sequence is shorter than its UTF-16 form.
    CharBuffer out = CharBuffer.allocate(bytes.length);
    while (true) {
      CoderResult result = decoder.decode(in, out, true);
      if (!result.isError()) {
        return out.flip().toString();
      }
      for (int i = 0; i < result.length(); i++) {
        out.put((char) (0xDC00 | (in.get() & 0xFF)));
      }
    }
  }

  private static boolean startsWith(byte[] bytes, int first, int second) {
    return bytes.length >= 2 && (bytes[0] & 0xFF) == first && (bytes[1] & 0xFF) == second;
  }

  /** Returns whether the text can be parsed; reports text that is too large or was not UTF-8. */
  public static boolean isReadable(PolicySource source, Problems problems) {
    String text = source.text();
    // A malformed byte stands as a lone surrogate.
    long readable =
        text.codePoints().takeWhile(c -> Character.getType(c) != Character.SURROGATE).count();
    if (readable < text.codePointCount(0, text.length())) {
      problems.error(
          locate(source.name(), text, (int) readable),
          "not a text file in UTF-8",
          "save it as UTF-8");
      return false;
    }
    if (text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      problems.error(
          new SourceLocation(source.name(), 1, 1),
          "larger than " + MAX_BYTES / 1024 / 1024 + " MiB",
          "split it into several files and merge their domains");
      return false;
    }
    return true;
  }

  /** Returns the text without the byte order mark that it may begin with. */
  public static String withoutByteOrderMark(String text) {
    return text.startsWith("\uFEFF") ? text.substring(1) : text;
  }

  /**
   * Returns the place of the character at {@code index}, in code points. Lines end as for the YAML
   * parser: with LF, CR LF or a CR alone. A byte order mark takes no column.
   */
  public static SourceLocation locate(String file, String text, int index) {
    int end = text.offsetByCodePoints(0, Math.min(index, text.codePointCount(0, text.length())));
    String[] lines = text.substring(0, end).replace("\uFEFF", "").split("\r\n|\r|\n", -1);
    String last = lines[lines.length - 1];
    return new SourceLocation(file, lines.length, last.codePointCount(0, last.length()) + 1);
  }
}
