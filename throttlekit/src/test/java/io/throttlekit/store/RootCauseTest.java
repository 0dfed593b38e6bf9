package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class RootCauseTest {

  @Test
  void aHostWithoutAddressIsUnknown() {
    assertThat(RootCause.message(new IOException(new UnknownHostException("redis.test"))))
        .isEqualTo("unknown host: redis.test");
  }

  @Test
  void aHostWhoseNameIsNotResolvedInTimeMayExist() {
    UnknownHostException failure = new UnknownHostException("Failed to resolve 'redis.test'");
    failure.initCause(new IOException("no address", new IOException("query 1 timed out")));
    assertThat(RootCause.message(failure))
        .isEqualTo("name resolution timed out: Failed to resolve 'redis.test'");
  }

  @Test
  void aClosedConnectionIsNoNameOfAClass() {
    Throwable stackless = new ClosedChannelException() {};
    assertThat(RootCause.message(new IOException("cannot connect", stackless)))
        .isEqualTo("connection closed before an answer");
    assertThat(RootCause.message(new CompletionException(new TimeoutException())))
        .isEqualTo("timed out");
  }

  @Test
  void otherFailuresHaveTheInnermostMessage() {
    assertThat(RootCause.message(new IOException("outer", new IOException("inner"))))
        .isEqualTo("inner");
    assertThat(RootCause.message(null)).isEqualTo("unknown");
  }
}
