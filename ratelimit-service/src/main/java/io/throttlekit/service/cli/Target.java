package io.throttlekit.service.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a service listens.
 *
 * @param host a name or an address, that of IPv6 in brackets
 * @param port from 0 to 65535
 */
record Target(String host, int port) {

  private static final Pattern FORM =
      Pattern.compile("([0-9A-Za-z_.-]+|\\[[0-9A-Fa-f:.]+\\]):([0-9]{1,5})");

  /** Reads one argument. */
  static final class Converter implements ITypeConverter<Target> {
    @Override
    public Target convert(String text) {
      Matcher parts = FORM.matcher(text);
      if (!parts.matches() || Integer.parseInt(parts.group(2)) > 65_535) {
        throw new TypeConversionException(
            "'" + text + "' is not HOST:PORT, such as 127.0.0.1:8081");
      }
      return new Target(parts.group(1), Integer.parseInt(parts.group(2)));
    }
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
