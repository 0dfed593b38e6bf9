package io.throttlekit.service.rls;

import static com.google.protobuf.WireFormat.WIRETYPE_LENGTH_DELIMITED;
import static com.google.protobuf.WireFormat.WIRETYPE_VARINT;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.Cost;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.LimitOverride;
import io.throttlekit.descriptors.policy.LimitUnit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one descriptor as received; they are checked only after the whole request was read.
 *
 * <p>Repeated fields follow protobuf's rules: the last scalar wins, messages are merged. For one
 * thread.
 */
public final class DescriptorFields {
  /** Protobuf: the lowest three bits of a tag are the wire type. */
  static final int TAG_BITS = 3;

  private static final int ENTRIES =
      RateLimitDescriptor.ENTRIES_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int LIMIT =
      RateLimitDescriptor.LIMIT_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int HITS_ADDEND =
      RateLimitDescriptor.HITS_ADDEND_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;

  /** {@code is_negative_hits}, a field newer than the generated message class. */
  private static final int IS_NEGATIVE_HITS = 4 << TAG_BITS | WIRETYPE_VARINT;

  private static final int KEY = Entry.KEY_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int VALUE = Entry.VALUE_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int REQUESTS_PER_UNIT =
      RateLimitOverride.REQUESTS_PER_UNIT_FIELD_NUMBER << TAG_BITS | WIRETYPE_VARINT;
  private static final int UNIT = RateLimitOverride.UNIT_FIELD_NUMBER << TAG_BITS | WIRETYPE_VARINT;
  private static final int HITS = UInt64Value.VALUE_FIELD_NUMBER << TAG_BITS | WIRETYPE_VARINT;

  // UTF-8: a surrogate pair, two chars, takes 4
  private static final int MAX_BYTES_PER_CHAR = 3;

  /** Stands for bytes that are not UTF-8. */
  private static final char REPLACEMENT = '\uFFFD';

  /** Longest key shown in an error message. */
  private static final int MAX_SHOWN = 60;

  private String[] texts = new String[4]; // two entries, as most descriptors have at most
  private int size;
  private boolean hasLimit;
  private int requestsPerUnit;
  private int unit;
  private boolean hasHits;
  private long hits;
  private boolean refund;

  /** Adds an entry. */
  public void entry(String key, String value) {
    if (size == texts.length) {
      texts = Arrays.copyOf(texts, 2 * size);
    }
    texts[size++] = key;
    texts[size++] = value;
  }

  /**
   * Sets the limit that the descriptor brings.
   *
   * @param perUnit an unsigned number
   * @param unitNumber the number of a {@code RateLimitUnit}
   */
  public void limit(int perUnit, int unitNumber) {
    hasLimit = true;
    requestsPerUnit = perUnit;
    unit = unitNumber;
  }

  /** Sets the descriptor's own hits, an unsigned number. */
  public void hits(long units) {
    hasHits = true;
    hits = units;
  }

  /** Makes the hits a refund. */
  public void refund() {
    refund = true;
  }

  /** Reads the length of a descriptor and the descriptor. */
  static DescriptorFields read(CodedInputStream in) throws IOException {
    DescriptorFields fields = new DescriptorFields();
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case ENTRIES -> fields.readEntry(in);
        case LIMIT -> fields.readLimit(in);
        case HITS_ADDEND -> fields.readHits(in);
        case IS_NEGATIVE_HITS -> fields.refund = in.readBool();
        default -> skip(in, tag);
      }
    }
    in.popLimit(outer);
    return fields;
  }

  /** Skips an unknown field. */
  static void skip(CodedInputStream in, int tag) throws IOException {
    if (!in.skipField(tag)) {
      throw new InvalidProtocolBufferException("a group ends that did not begin");
    }
  }

  /**
   * Returns the descriptor.
   *
   * @param maxEntryBytes maximum of a key or value in UTF-8
   * @throws InvalidRequestException if no policy could apply to it
   */
  Descriptor checked(int maxEntryBytes) {
    checkLengths(texts, size, maxEntryBytes);
    String[] entries = size == texts.length ? texts : Arrays.copyOf(texts, size);
    return new Descriptor(entries, override(), hits(), refund);
  }

  /**
   * Checks the lengths of entries, for every protocol.
   *
   * @param entries key, value, key, value …
   * @param size number of elements of {@code entries} in use
   * @param maxBytes of a key or value in UTF-8, from 1
   * @throws InvalidRequestException if one is too long; the message names the key, but not the
   *     value
   */
  public static void checkLengths(String[] entries, int size, int maxBytes) {
    for (int i = 0; i < size; i++) {
      // shorter texts fit whatever their characters, without encoding them
      if (entries[i].length() > maxBytes / MAX_BYTES_PER_CHAR) {
        checkLong(entries, i, maxBytes);
      }
    }
  }

  private static void checkLong(String[] entries, int index, int maxBytes) {
    int bytes = receivedBytes(entries[index]);
    if (bytes > maxBytes) {
      boolean isKey = index % 2 == 0;
      throw new InvalidRequestException(
          "the %s of entry \"%s\" has %d bytes, more than grpc.max_entry_bytes (%d)"
              .formatted(
                  isKey ? "key" : "value",
                  shown(entries[isKey ? index : index - 1]),
                  bytes,
                  maxBytes));
    }
  }

  /**
   * Returns the length in UTF-8, with one byte for each U+FFFD: it stands for at least one received
   * byte, and must not make a text too long that was not.
   */
  private static int receivedBytes(String text) {
    int replaced = (int) text.chars().filter(c -> c == REPLACEMENT).count();
    return text.getBytes(StandardCharsets.UTF_8).length - (MAX_BYTES_PER_CHAR - 1) * replaced;
  }

  /**
   * Returns a key chosen by a client, cut and without control characters, so that it cannot forge a
   * log line.
   */
  private static String shown(String key) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < Math.min(key.length(), MAX_SHOWN); i++) {
      char c = key.charAt(i);
      shown.append(c < ' ' || c > '~' ? '?' : c);
    }
    return shown.append(key.length() > MAX_SHOWN ? "..." : "").toString();
  }

  private void readEntry(CodedInputStream in) throws IOException {
    String key = "";
    String value = "";
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        // U+FFFD for bytes that are not UTF-8: Envoy treats an error as "admitted"
        case KEY -> key = in.readString();
        case VALUE -> value = in.readString();
        default -> skip(in, tag);
      }
    }
    in.popLimit(outer);
    entry(key, value);
  }

  private void readLimit(CodedInputStream in) throws IOException {
    hasLimit = true;
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (tag) {
        case REQUESTS_PER_UNIT -> requestsPerUnit = in.readUInt32();
        case UNIT -> unit = in.readEnum();
        default -> skip(in, tag);
      }
    }
    in.popLimit(outer);
  }

  private void readHits(CodedInputStream in) throws IOException {
    hasHits = true;
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag == HITS) {
        hits = in.readUInt64();
      } else {
        skip(in, tag);
      }
    }
    in.popLimit(outer);
  }

  private long hits() {
    if (!hasHits) {
      return Descriptor.HITS_UNSET;
    }
    if (hits < 0 || hits > Cost.MAX) { // unsigned: negative stands for 2^63 and more
      throw new InvalidRequestException(
          "hits_addend must be from 0 to 2^53-1, was " + Long.toUnsignedString(hits));
    }
    return hits;
  }

  private @Nullable LimitOverride override() {
    if (!hasLimit) {
      return null;
    }
    // RateLimit.Unit of the response: it has the numbers of that of the request, and WEEK.
    RateLimit.Unit known = RateLimit.Unit.forNumber(unit);
    if (known == null || known == RateLimit.Unit.UNKNOWN) {
      throw new InvalidRequestException(
          "the limit of a descriptor needs a unit from SECOND to YEAR, was "
              + (known == null ? String.valueOf(unit) : known.name()));
    }
    return new LimitOverride(
        Integer.toUnsignedLong(requestsPerUnit), LimitUnit.valueOf(known.name()));
  }

  @Override
  public String toString() {
    return String.join(",", Arrays.asList(texts).subList(0, size))
        + (hasLimit ? " limit " + Integer.toUnsignedString(requestsPerUnit) + "/" + unit : "")
        + (hasHits ? " hits " + Long.toUnsignedString(hits) : "")
        + (refund ? " refund" : "");
  }
}
