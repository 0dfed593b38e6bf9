package io.throttlekit.service.concurrency;

import io.throttlekit.service.concurrency.release.IdSigner;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Generates permit ids from a random number of the process, its start time, a sequence number and a
 * signature of 64 bits, so that a client can neither end the permit of another nor invent an id.
 * They are followed by tags of the shared limits of the permit, and by {@code -l} if its request's
 * log entry ends it: so other processes know what to do with a release. Thread-safe.
 */
final class PermitIds {
  /** The most tags of an id; releases of a dead process do not count in further limits. */
  static final int MAX_TAGS = 4;

  private static final int TAG_LENGTH = 13; // of 64 bits in base 36
  private static final String LOGGED = "-l";

  // a number below 2^31 and two of 64 bits in base 36, 16 hexadecimal digits, tags and a mark
  private static final Pattern FORMAT =
      Pattern.compile(
          "(([0-9a-z]{1,6})-[0-9a-z]{1,13})-[0-9a-z]{1,13}-([0-9a-f]{16})"
              + "((?:-[0-9a-z]{13}){0,4})(?:-l)?");

  private final IdSigner signer = IdSigner.create();
  private final int process;
  private final String address;
  private final String prefix;
  private final AtomicLong sequence = new AtomicLong();

  /**
   * The parts of an id.
   *
   * @param address of the process that created it
   * @param process number of that process
   * @param tags of its shared limits
   * @param text that is signed: all but the signature
   */
  record Parts(String address, int process, List<String> tags, String text, String signature) {}

  /**
   * @param epochMillis start time of the process
   */
  PermitIds(long epochMillis) {
    this.process = new SecureRandom().nextInt() & Integer.MAX_VALUE;
    String node = Integer.toString(process, Character.MAX_RADIX);
    this.address = node + '-' + Long.toString(epochMillis, Character.MAX_RADIX);
    this.prefix = address + '-';
  }

  /** Returns the address of the process that created this id; null if no process creates such. */
  static @Nullable String addressIn(String id) {
    Matcher parts = FORMAT.matcher(id);
    return parts.matches() ? parts.group(1) : null;
  }

  /** Returns the parts of the id; null if no process creates such. */
  static @Nullable Parts parts(String id) {
    Matcher parts = FORMAT.matcher(id);
    if (!parts.matches()) {
      return null;
    }
    String tags = parts.group(4);
    int process = (int) Long.parseLong(parts.group(2), Character.MAX_RADIX);
    return new Parts(
        parts.group(1),
        process,
        tags.isEmpty() ? List.of() : List.of(tags.substring(1).split("-", -1)),
        id.substring(0, parts.start(3)) + id.substring(parts.end(3)),
        parts.group(3));
  }

  /** Returns whether the entry of an access log ends the permit, if the id is one. */
  static boolean isLogged(String id) {
    return id.endsWith(LOGGED);
  }

  /** Returns the tag of a shared limit, the same in all processes. */
  static String tag(String key) {
    byte[] hash;
    try {
      hash = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
    String digits = Long.toUnsignedString(ByteBuffer.wrap(hash).getLong(), Character.MAX_RADIX);
    return "0".repeat(TAG_LENGTH - digits.length()) + digits;
  }

  /** Returns the address of this process, with which its ids begin. */
  String address() {
    return address;
  }

  /** Returns the number of this process, from 0, with which its address begins. */
  int process() {
    return process;
  }

  /** Returns what signs the ids of this process. */
  IdSigner signer() {
    return signer;
  }

  /** Returns the next id of a permit below the held ones. */
  String next(List<HeldPermit> held, boolean logged) {
    StringBuilder id = new StringBuilder(prefix);
    id.append(Long.toString(sequence.incrementAndGet(), Character.MAX_RADIX)).append('-');
    int signature = id.length();
    int tags = 0;
    for (HeldPermit each : held) {
      String tag = each.limit().tag();
      if (tag != null && tags++ < MAX_TAGS) {
        id.append('-').append(tag);
      }
    }
    if (logged) {
      id.append(LOGGED);
    }
    return id.insert(signature, signer.sign(id.toString())).toString();
  }
}
