package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class LinkReasonTest {
  private static final String NO_AUTH = "NOAUTH Authentication required.";

  @Test
  void anAnswerOfRedisHasPrecedenceOverTheEndOfTheConnection() {
    RedisCommandExecutionException answer = new RedisCommandExecutionException(NO_AUTH);
    Throwable closed = new ClosedChannelException();
    Throwable caused = new RedisConnectionException("no", new CompletionException(answer));
    answer.initCause(closed);
    assertThat(Link.reason(caused)).startsWith(NO_AUTH);

    Throwable beside = new RedisConnectionException("no", new ClosedChannelException());
    beside.addSuppressed(new RedisCommandExecutionException(NO_AUTH));
    assertThat(Link.reason(beside)).startsWith(NO_AUTH);
  }

  @Test
  void aMissingPasswordAndADatabaseThatDoesNotExistAreExplained() {
    assertThat(Link.reason(new RedisCommandExecutionException(NO_AUTH)))
        .contains("redis://:PASSWORD@HOST:PORT");
    assertThat(Link.reason(new RedisCommandExecutionException("ERR DB index is out of range")))
        .contains("number of the database in the URI");
  }

  @Test
  void theLengthOfAPasswordIsNotShown() {
    assertThat(Link.reason(new RedisConnectionException("to redis://me:********@r:1 and")))
        .isEqualTo("to redis://***@r:1 and");
  }
}
