package io.throttlekit.demo;

import io.throttlekit.testkit.redis.RedisProcess;

/** Starts the Redis processes of the mesh. */
final class MeshRedis {
  private MeshRedis() {}

  /** Starts a Redis whose files are deleted at the end. */
  static RedisProcess start(Undo started, String... options) {
    RedisProcess redis = RedisProcess.start(options);
    started.push(() -> DemoFiles.delete(redis.folder()));
    started.push(redis::close);
    return redis;
  }
}
