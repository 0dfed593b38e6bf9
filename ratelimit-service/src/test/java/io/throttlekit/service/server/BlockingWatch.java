package io.throttlekit.service.server;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Looks at the event loops again and again, and remembers every stack in which one of them waited
 * while it was in code of this project.
 */
final class BlockingWatch implements AutoCloseable {
  private static final Set<Thread.State> WAITING =
      Set.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private final Set<String> blocked = ConcurrentHashMap.newKeySet();
  private final Thread watcher;
  private volatile boolean watching = true;

  private BlockingWatch(String threadNames) {
    this.watcher = Thread.ofPlatform().daemon().unstarted(() -> watch(threadNames));
  }

  static BlockingWatch start(String threadNames) {
    BlockingWatch watch = new BlockingWatch(threadNames);
    watch.watcher.start();
    return watch;
  }

  Set<String> blockedInOurCode() {
    return blocked;
  }

  @Override
  public void close() {
    watching = false;
    try {
      watcher.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch(String threadNames) {
    while (watching) {
      Thread.getAllStackTraces()
          .forEach((thread, stack) -> {
            if (thread.getName().startsWith(threadNames)
                && WAITING.contains(thread.getState())
                && Arrays.stream(stack).anyMatch(BlockingWatch::isOurs)) {
              blocked.add(
                  Arrays.stream(stack)
                      .map(StackTraceElement::toString)
                      .collect(Collectors.joining("\n")));
            }
          });
    }
  }

  private static boolean isOurs(StackTraceElement frame) {
    return frame.getClassName().startsWith("io.throttlekit.");
  }
}
