package io.throttlekit.testkit.session;

import static java.util.stream.Collectors.joining;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The stacks of all threads of this JVM, virtual ones included.
 *
 * <p>A throwable, so that a failure can carry the stacks as a suppressed exception.
 */
final class ThreadStacks extends Throwable {
  private static final long serialVersionUID = 1;

  private ThreadStacks(String text) {
    super(text, null, false, false);
  }

  /** Returns the stacks of this moment, or the reason why there are none. */
  static ThreadStacks now() {
    try {
      // The bean creates the file and refuses an existing one.
      Path folder = Files.createTempDirectory("throttlekit-stacks");
      Path file = folder.resolve("stacks.txt");
      try {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .dumpThreads(file.toString(), ThreadDumpFormat.TEXT_PLAIN);
        String stacks =
            Files.readAllLines(file).stream()
                .filter(line -> !line.startsWith("    at org.junit.")) // some sixty below each test
                .collect(joining("\n"));
        return new ThreadStacks("the stacks of all threads:\n" + stacks);
      } finally {
        Files.deleteIfExists(file);
        Files.delete(folder);
      }
    } catch (IOException e) {
      return new ThreadStacks("no stacks: " + e);
    }
  }
}
