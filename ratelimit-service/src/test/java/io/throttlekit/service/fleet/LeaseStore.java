package io.throttlekit.service.fleet;

import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.redis.RedisProcess;

/** A real process from which regions, or the processes of one, lease units. */
interface LeaseStore extends AutoCloseable {

  /** The kinds of stores. */
  enum Kind {
    REDIS,
    POSTGRESQL
  }

  /** Starts one that loses no acknowledged grant, and waits until it answers. */
  static LeaseStore durable(Kind kind) {
    return switch (kind) {
      case REDIS ->
          new OnRedis(RedisProcess.start("--appendonly", "yes", "--appendfsync", "always"));
      // What a commit wrote outlives its process without fsync, only not the machine.
      case POSTGRESQL -> new OnPostgres(PostgresProcess.start("fsync=off", "full_page_writes=off"));
    };
  }

  /** Starts one that loses its data when it is killed, and waits until it answers. */
  static LeaseStore withoutPersistence() {
    return new OnRedis(RedisProcess.start());
  }

  /** Returns its port on 127.0.0.1. */
  int port();

  /**
   * Returns the setting for clients that reach it at a port.
   *
   * @param port its own, or that of a proxy
   */
  String uri(int port);

  /** Kills it (SIGKILL). */
  void kill();

  /** Restarts it after {@link #kill}. */
  void restart();

  /** Suspends it (SIGSTOP). */
  void hang();

  /** Ends {@link #hang}. */
  void goOn();

  @Override
  void close();

  /** A Redis. */
  record OnRedis(RedisProcess redis) implements LeaseStore {
    @Override
    public int port() {
      return redis.port();
    }

    @Override
    public String uri(int port) {
      return "redis://127.0.0.1:" + port;
    }

    @Override
    public void kill() {
      redis.kill();
    }

    @Override
    public void restart() {
      redis.restart();
    }

    @Override
    public void hang() {
      redis.hang();
    }

    @Override
    public void goOn() {
      redis.goOn();
    }

    @Override
    public void close() {
      redis.close();
    }
  }

  /** A PostgreSQL that has written what it commits before it answers. */
  record OnPostgres(PostgresProcess postgres) implements LeaseStore {
    @Override
    public int port() {
      return postgres.port();
    }

    @Override
    public String uri(int port) {
      return "postgresql://" + PostgresProcess.SUPERUSER + ":any@127.0.0.1:" + port + "/postgres";
    }

    @Override
    public void kill() {
      postgres.kill();
    }

    @Override
    public void restart() {
      postgres.restart();
    }

    @Override
    public void hang() {
      postgres.hang();
    }

    @Override
    public void goOn() {
      postgres.goOn();
    }

    @Override
    public void close() {
      postgres.close();
    }
  }
}
