package io.throttlekit.testkit.session;

import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.PreInterruptCallback;
import org.junit.jupiter.api.extension.PreInterruptContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Adds the stacks of all threads to the failure of a test or lifecycle method that timed out, as
 * they were when its thread was interrupted.
 *
 * <p>JUnit registers the extension in every module whose tests have the test kit on their class
 * path. JUnit's own thread dump goes to standard output, and lacks virtual threads.
 */
public final class TimeoutStacks
    implements PreInterruptCallback,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler {
  private static final Namespace STACKS = Namespace.create(TimeoutStacks.class);

  @Override
  public void beforeThreadInterrupt(PreInterruptContext interrupt, ExtensionContext context) {
    context.getStore(STACKS).put(ThreadStacks.class, ThreadStacks.now());
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withStacks(context, failure);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withStacks(context, failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withStacks(context, failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withStacks(context, failure);
  }

  @Override
  public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    throw withStacks(context, failure);
  }

  private static Throwable withStacks(ExtensionContext context, Throwable failure) {
    if (failure instanceof TimeoutException) {
      ThreadStacks stacks = context.getStore(STACKS).remove(ThreadStacks.class, ThreadStacks.class);
      if (stacks != null) { // a TimeoutException of the test itself has none
        failure.addSuppressed(stacks);
      }
    }
    return failure;
  }
}
