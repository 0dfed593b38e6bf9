package io.throttlekit.service.policies;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A file with the last good policies, for the next process. It consists of a line with the format,
 * its version and the SHA-256 of the rest, and of that rest. For one thread at a time.
 */
public final class LastGoodFile {
  private static final int DIGEST = 64; // hexadecimal digits of a SHA-256
  private static final long MAX_BYTES =
      128 << 20; // twice the greatest message of a control plane, with last good states
  private static final int HEAP_PER_BYTE = 8; // to read, check and apply the file

  private final Path file;
  private final String format;
  private final int maxBytes;
  private final Logger log;
  private boolean failing;

  /**
   * Creates the file's representation, without touching it.
   *
   * @param format name and version of the content
   * @param log receives a line about a file that is ignored, or cannot be written
   */
  public LastGoodFile(Path file, String format, Logger log) {
    this(file, format, log, Math.min(MAX_BYTES, Runtime.getRuntime().maxMemory() / HEAP_PER_BYTE));
  }

  /**
   * Creates the file's representation, without touching it.
   *
   * @param maxBytes largest file that is read or written
   */
  public LastGoodFile(Path file, String format, Logger log, long maxBytes) {
    this.file = file;
    this.format = format + " ";
    this.log = log;
    this.maxBytes = Math.toIntExact(maxBytes);
  }

  /** Returns the content; null if there is none, or a broken one, of which it warns. */
  public byte @Nullable [] read() {
    boolean exists = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    // a pipe would block the start
    if (exists && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      log.warn("{} is ignored: it is no regular file", file);
      return null;
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] all = in.readNBytes(maxBytes + 1);
      byte[] header = Arrays.copyOf(all, Math.min(headerBytes(), all.length));
      byte[] content = Arrays.copyOfRange(all, header.length, all.length);
      if (all.length > maxBytes) {
        log.warn("{} is ignored: it is larger than {} bytes", file, maxBytes);
      } else if (!Arrays.equals(header, header(content))) {
        log.warn("{} is ignored: it is broken, or of another version", file);
      } else {
        return content;
      }
    } catch (NoSuchFileException e) {
      log.info("{} does not exist yet: no policies are known from an earlier process", file);
    } catch (IOException e) {
      ignored(e);
    }
    return null;
  }

  /** Warns that the content cannot be read. */
  public void ignored(IOException cause) {
    log.warn("{} is ignored: it cannot be read: {}", file, cause.toString());
  }

  /** Replaces the content in one step. Warns if that is not possible. */
  public void write(byte[] content) {
    if (content.length > maxBytes - headerBytes()) {
      failed("the policies are larger than " + maxBytes + " bytes");
      return;
    }
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try {
      Files.deleteIfExists(next); // of a crash; a link or a pipe must not be written to
      // In the same folder, because only there it can replace the file in one step.
      try (OutputStream out = Files.newOutputStream(next, StandardOpenOption.CREATE_NEW)) {
        out.write(header(content));
        out.write(content);
      }
      try (FileChannel written = FileChannel.open(next, StandardOpenOption.WRITE)) {
        written.force(true); // or a crash could leave a name without its content
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      failing = false;
    } catch (IOException e) {
      failed(e.toString());
    }
  }

  /** Warns that the content could not be written. */
  public void failed(String why) {
    if (!failing) { // one line until it succeeds: policies may change all the time
      failing = true;
      log.warn("{} is not written, and a restart may lack the newest policies: {}", file, why);
    }
  }

  /** Warns that the newest content is not written yet when the process stops. */
  void late() {
    log.warn("{} may lack the newest policies: the disk is too slow for the stop", file);
  }

  @Override
  public String toString() {
    return file.toString();
  }

  private int headerBytes() {
    return format.length() + DIGEST + 1; // with a line feed
  }

  private byte[] header(byte[] content) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      String line = format + HexFormat.of().formatHex(digest) + "\n";
      return line.getBytes(StandardCharsets.US_ASCII);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
