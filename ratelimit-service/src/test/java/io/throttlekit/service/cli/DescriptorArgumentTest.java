package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DescriptorArgumentTest {

  @Test
  void keysEndAtTheFirstEqualsSignAndValuesMayBeEmpty() {
    assertThat(DescriptorArgument.parse("a=b=c,d=").entries()).containsExactly("a", "b=c", "d", "");
  }

  @Test
  void aBackslashEscapesACommaOfAValue() {
    assertThat(DescriptorArgument.parse("a=b\\,c,d=e\\\\").entries())
        .containsExactly("a", "b,c", "d", "e\\");
  }

  @Test
  void roundTripsThroughItsText() {
    assertThat(DescriptorArgument.parse("a=b\\,c,d=e\\\\")).hasToString("a=b\\,c,d=e\\\\");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "=b", "a=b,", ",a=b", "a=b,,c=d"})
  void anythingElseIsRejectedWithTheSyntax(String text) {
    assertThatThrownBy(() -> DescriptorArgument.parse(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("key=value,key=value");
  }
}
