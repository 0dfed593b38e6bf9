package io.throttlekit.bench.comparison;

import io.throttlekit.bench.load.ClosedLoop;
import io.throttlekit.bench.load.KeySpread;
import io.throttlekit.bench.load.LoadResult;
import io.throttlekit.bench.load.Requests;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.time.Duration;

/**
 * Round trips of a server to its Redis for a number of admitted requests.
 *
 * @param trips calls of the script that Redis counted
 * @param bound one for each full or started batch of each key
 */
public record RoundTrips(long trips, long bound) {
  private static final int KEYS = 100; // few, so that each key has many batches
  private static final String SCRIPT_CALLS = "cmdstat_evalsha:calls=";

  /** Loads {@code server}, which leases {@code batch} units at a time, on a hundred keys. */
  static RoundTrips measure(
      Contender server, RedisProcess redis, int batch, ClosedLoop loop, Duration time)
      throws IOException, InterruptedException {
    long before = scriptCalls(redis);
    LoadResult load = server.offer(loop, new Requests(KEYS), time);
    long admitted = load.answers() - load.refused();
    return new RoundTrips(scriptCalls(redis) - before, bound(admitted, batch));
  }

  /** Returns the ratio of round trips to the bound. */
  double share() {
    return (double) trips / Math.max(1, bound);
  }

  private static long bound(long admitted, int batch) {
    long[] ofKey = new long[KEYS];
    for (long place = 0; place < admitted; place++) {
      ofKey[KeySpread.at(place, KEYS)]++;
    }
    long bound = 0;
    for (long count : ofKey) {
      bound += Math.ceilDiv(count, batch);
    }
    return bound;
  }

  private static long scriptCalls(RedisProcess redis) {
    return redis
        .command("INFO", "commandstats")
        .lines()
        .filter(line -> line.startsWith(SCRIPT_CALLS))
        .mapToLong(line -> Long.parseLong(line.substring(SCRIPT_CALLS.length(), line.indexOf(','))))
        .sum();
  }
}
