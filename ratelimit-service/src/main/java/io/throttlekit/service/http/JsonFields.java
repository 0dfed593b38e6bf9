package io.throttlekit.service.http;

import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON as strictly as Go's protojson: valid UTF-8 and grammar, no duplicate and no unknown
 * field, no string for a number unless it contains a number. A null is treated as an absent field.
 */
record JsonFields(JsonReader json) {
  /** Twice the digits of 2^64, so that long texts are refused before they are parsed. */
  private static final int MAX_NUMBER_LENGTH = 40;

  /**
   * Maximum exponent in either direction, which bounds the digits that a number is written out
   * with.
   */
  private static final int MAX_SCALE = 40;

  /** Consumes the value of one field. */
  @FunctionalInterface
  interface Field {
    void read(String name) throws IOException, MalformedBodyException;
  }

  /** Consumes the next element of a list. */
  @FunctionalInterface
  interface Element {
    void read() throws IOException, MalformedBodyException;
  }

  static JsonFields of(byte[] body) throws MalformedBodyException {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException notUtf8) {
      throw new MalformedBodyException(notUtf8);
    }
    if (text.startsWith("\uFEFF")) { // Gson would skip it, protojson refuses it
      throw new MalformedBodyException("a byte order mark is not JSON");
    }
    JsonReader json = new JsonReader(new StringReader(text));
    json.setStrictness(Strictness.STRICT);
    return new JsonFields(json);
  }

  /**
   * Reads an object and calls {@code field} for each of its members.
   *
   * @param canonical maps a field's alternative name to its canonical one
   */
  void object(UnaryOperator<String> canonical, Field field)
      throws IOException, MalformedBodyException {
    Set<String> seen = new HashSet<>();
    json.beginObject();
    while (json.hasNext()) {
      String name = canonical.apply(json.nextName());
      if (!seen.add(name)) {
        throw new MalformedBodyException("field " + name + " is there twice");
      }
      field.read(name);
    }
    json.endObject();
  }

  void list(Element element) throws IOException, MalformedBodyException {
    json.beginArray();
    while (json.hasNext()) {
      element.read();
    }
    json.endArray();
  }

  /** Throws unless the document ends here. */
  void end() throws IOException, MalformedBodyException {
    if (json.peek() != JsonToken.END_DOCUMENT) {
      throw new MalformedBodyException("there is more than one value");
    }
  }

  /** Returns whether the next value is null, and consumes it if so. */
  boolean absent() throws IOException {
    if (json.peek() != JsonToken.NULL) {
      return false;
    }
    json.nextNull();
    return true;
  }

  String text() throws IOException, MalformedBodyException {
    if (json.peek() != JsonToken.STRING) {
      throw new MalformedBodyException("a text was expected at " + json.getPath());
    }
    String text = json.nextString();
    // A lone surrogate, which protobuf cannot encode.
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new MalformedBodyException("half a character at " + json.getPath());
    }
    return text;
  }

  boolean truth() throws IOException {
    return json.nextBoolean();
  }

  /** Returns the name of an enum's value, or null when it is a number. */
  @Nullable String name() throws IOException, MalformedBodyException {
    return json.peek() == JsonToken.NUMBER ? null : text();
  }

  /** Reads an integer from {@code min} to {@code max}, as a number or a string. */
  BigInteger whole(BigInteger min, BigInteger max) throws IOException, MalformedBodyException {
    if (json.peek() != JsonToken.NUMBER && json.peek() != JsonToken.STRING) {
      throw new MalformedBodyException("a number was expected at " + json.getPath());
    }
    String digits = json.nextString();
    if (digits.length() > MAX_NUMBER_LENGTH
        || !digits.matches("-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?")) {
      throw new MalformedBodyException("not a number at " + json.getPath());
    }
    BigDecimal number = new BigDecimal(digits);
    if (Math.abs((long) number.scale()) > MAX_SCALE) { // 1e999999999 would take gigabytes
      throw new MalformedBodyException("out of range at " + json.getPath());
    }
    BigInteger whole = number.toBigIntegerExact();
    if (whole.compareTo(min) < 0 || whole.compareTo(max) > 0) {
      throw new MalformedBodyException("out of range at " + json.getPath());
    }
    return whole;
  }
}
