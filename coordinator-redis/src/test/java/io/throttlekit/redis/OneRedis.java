package io.throttlekit.redis;

import io.throttlekit.testkit.redis.RedisProcess;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One Redis for all tests of a class, emptied before each of them. */
final class OneRedis implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  private @Nullable RedisProcess process;

  @Override
  public void beforeAll(ExtensionContext context) {
    process = RedisProcess.start();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    flush();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    process().close();
  }

  /** Deletes all data. */
  void flush() {
    process().command("FLUSHALL");
  }

  String command(String... words) {
    return process().command(words);
  }

  int port() {
    return process().port();
  }

  String url() {
    return process().url();
  }

  private RedisProcess process() {
    return Objects.requireNonNull(process);
  }
}
