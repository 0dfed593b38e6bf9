package io.throttlekit.demo;

import io.throttlekit.testkit.redis.RedisProcess;

/** Starts the Redis processes of the mesh. */
final class MeshRedis {
  private MeshRedis() {}

  /** Starts a Redis that ends with the demo. */
  static RedisProcess start(Undo started, String... options) {
    RedisProcess redis = RedisProcess.start(options);
    started.push(redis::close);
    return redis;
  }
}
