package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisSettingsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "redis://h:1/2 redis://h:1/2",
        "redis://secret@h redis://***@h",
        "rediss://me:secret@h:1 rediss://***@h:1",
        "redis://me:s@e/c:ret@h redis://***@h",
        "redis-sentinel://secret@a,b:1/3#main redis-sentinel://***@a,b:1/3#main",
        "redis://me:s@,ecret@h redis://***@h",
      })
  void theirTextShowsNoPassword(String url, String shown) {
    RedisSettings settings = Wanted.redis(url).sentinelLogin("me", "secret").settings();
    assertThat(settings.toString()).contains("url=" + shown + ",").doesNotContain("secret", "ret@");
  }

  @Test
  void theirTextShowsNoPasswordOfSeveralNodes() {
    RedisSettings settings =
        Wanted.cluster("redis://me:sec,ret@a:1,redis://me:sec,ret@b:2").settings();
    assertThat(settings.toString()).contains("url=redis://***@b:2,");
  }
}
