package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.store.CircuitBreaker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invalid settings, and secrets in settings. */
class PostgresSettingsTest {

  @Test
  void theirTextShowsNoPassword() {
    PostgresSettings settings =
        new PostgresSettings(
            "jdbc:postgresql://h/db?user=u&password=secret&sslpassword=secret",
            "me",
            "secret",
            "throttlekit",
            Durability.SYNCHRONOUS,
            4,
            5,
            2_000,
            new CircuitBreaker.Settings(5, 1_000, 100),
            1_000,
            30_000);
    assertThat(settings.toString())
        .contains("jdbc:postgresql://h/db", "me", "throttlekit")
        .doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Upper", "a-b", "a\"b", "a.b", "1a", "a;drop"})
  void aSchemaThatIsNotAPlainNameIsRejected(String name) {
    assertThatThrownBy(() -> Wanted.of("jdbc:postgresql://h/db").schema(name).settings())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("schema");
  }

  @Test
  void otherUrlsAndNumbersOutOfRangeAreRejected() {
    assertThatThrownBy(() -> Wanted.of("postgresql://h/db").settings())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("jdbc:postgresql:");
    assertThatThrownBy(() -> Wanted.of("jdbc:postgresql://h/db").connections(0).settings())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("connections must be at least 1, was 0");
    assertThatThrownBy(() -> Wanted.of("jdbc:postgresql://h/db").deadlines(0, 1).settings())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
