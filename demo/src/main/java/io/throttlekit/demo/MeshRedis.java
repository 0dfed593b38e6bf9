package io.throttlekit.demo;

import io.throttlekit.testkit.redis.RedisProcess;

/** Starts what the mesh keeps its counts in. */
final class MeshRedis {
  private MeshRedis() {}

  /** A Redis that leaves nothing behind. */
  static RedisProcess start(Undo started, String... options) {
    RedisProcess redis = RedisProcess.start(options);
    started.push(() -> DemoFiles.delete(redis.folder()));
    started.push(redis::close);
    return redis;
  }
}
