package io.throttlekit.service.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs waiting tasks concurrently. */
final class Concurrently {
  private Concurrently() {}

  /**
   * Runs all tasks and waits for each.
   *
   * @return their results, in the same order
   * @throws Exception what the first of them in this order failed with, and as suppressed what
   *     others did
   */
  static <T> List<T> all(List<? extends Callable<T>> tasks) throws Exception {
    List<T> results = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (Future<T> each : threads.invokeAll(tasks)) {
        try {
          results.add(each.get());
        } catch (ExecutionException e) {
          failures.add(e.getCause());
        }
      }
    }
    if (failures.isEmpty()) {
      return results;
    }
    Throwable first = failures.removeFirst();
    failures.forEach(first::addSuppressed);
    if (first instanceof Exception exception) {
      throw exception;
    }
    throw first instanceof Error error ? error : new AssertionError(first);
  }
}
