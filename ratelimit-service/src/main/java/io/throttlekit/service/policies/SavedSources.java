package io.throttlekit.service.policies;

import io.throttlekit.descriptors.source.PolicySource;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last good policy files in a {@link LastGoodFile}: the name and the text of each, as UTF-8
 * after its length in four bytes. For one thread at a time.
 */
final class SavedSources implements AutoCloseable {
  /** Name of the file in its folder. */
  static final String NAME = "policies.bin";

  private static final Logger LOG = LoggerFactory.getLogger(SavedSources.class);
  private static final String FORMAT = "throttlekit-policies 1";

  private final LastGoodFile file;
  private final LastGoodWriter<List<PolicySource>> writer;

  /** Creates the file's representation, without touching it. */
  SavedSources(Path folder) {
    this.file = new LastGoodFile(folder.resolve(NAME), FORMAT, LOG);
    this.writer = new LastGoodWriter<>(file, SavedSources::content, List::equals);
  }

  /**
   * @param writer runs the writes one after the other, and is shut down at the end
   * @param maxWait time that {@link #close} waits for the last write
   */
  SavedSources(Path folder, ExecutorService writer, Duration maxWait) {
    this.file = new LastGoodFile(folder.resolve(NAME), FORMAT, LOG);
    this.writer = new LastGoodWriter<>(file, SavedSources::content, List::equals, writer, maxWait);
  }

  /** Returns the saved files; null if there are none, or broken ones, of which it warns. */
  @Nullable List<PolicySource> read() {
    byte[] content = file.read();
    if (content == null) {
      return null;
    }
    List<PolicySource> sources = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
      while (in.available() > 0) {
        sources.add(new PolicySource(text(in), text(in)));
      }
      return sources;
    } catch (IOException e) { // not of this program, despite the digest
      file.ignored(e);
      return null;
    }
  }

  /** Lets files be written, all of them valid; returns without waiting. Warns if they cannot be. */
  void save(List<PolicySource> sources) {
    writer.save(sources);
  }

  /** Waits until the newest files are written, for a limited time. */
  @Override
  public void close() {
    writer.close();
  }

  private static byte[] content(List<PolicySource> sources) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(content);
    try {
      for (PolicySource source : sources) {
        write(source.name(), out);
        write(source.text(), out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("an array takes all", e);
    }
    return content.toByteArray();
  }

  private static String text(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new EOFException("a text is longer than the file");
    }
    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  private static void write(String text, DataOutputStream out) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }
}
