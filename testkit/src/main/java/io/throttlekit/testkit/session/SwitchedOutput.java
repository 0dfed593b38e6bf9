package io.throttlekit.testkit.session;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Standard output and standard error of this JVM, written to a file that changes.
 *
 * <p>Stays installed until the JVM ends: a handler of {@code java.util.logging} keeps the stream
 * that it found first, and runs of one class each follow each other in a JVM. Thread-safe.
 */
final class SwitchedOutput extends PrintStream {
  private final Target target;
  private final PrintStream console;

  private SwitchedOutput(Target target, PrintStream console) {
    super(target, true, StandardCharsets.UTF_8);
    this.target = target;
    this.console = console;
  }

  /** Returns the streams of this JVM; the first call replaces those that the JVM had. */
  static SwitchedOutput installed() {
    if (System.out instanceof SwitchedOutput installed) {
      return installed;
    }
    SwitchedOutput streams = new SwitchedOutput(new Target(), System.out);
    System.setOut(streams);
    System.setErr(streams);
    return streams;
  }

  /** Returns the standard output that this one replaced. */
  PrintStream console() {
    return console;
  }

  /** Writes what comes from now on to a file, which is created or emptied. */
  void writeTo(Path file) {
    flush();
    target.open(file);
  }

  /** Where the bytes go: nowhere, until the first class begins. */
  private static final class Target extends OutputStream {
    private @Nullable OutputStream file;

    synchronized void open(Path next) {
      try {
        if (file != null) {
          file.close();
        }
        file = Files.newOutputStream(next);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public synchronized void write(int value) throws IOException {
      if (file != null) {
        file.write(value);
      }
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) throws IOException {
      Objects.checkFromIndexSize(from, length, bytes.length);
      if (file != null) {
        file.write(bytes, from, length);
      }
    }
  }
}
