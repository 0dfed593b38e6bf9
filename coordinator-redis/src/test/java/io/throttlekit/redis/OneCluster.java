package io.throttlekit.redis;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A Redis Cluster for all tests of a class. */
final class OneCluster implements BeforeAllCallback, AfterAllCallback {
  private @Nullable RedisNodes nodes;

  @Override
  public void beforeAll(ExtensionContext context) {
    nodes = RedisNodes.start();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (nodes != null) {
      nodes.close();
    }
  }

  /** Deletes all keys. */
  void flush() {
    nodes().masters().forEach(node -> node.command("FLUSHALL"));
  }

  String urls() {
    return nodes().urls();
  }

  private RedisNodes nodes() {
    return Objects.requireNonNull(nodes);
  }
}
