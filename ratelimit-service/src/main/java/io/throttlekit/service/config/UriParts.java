package io.throttlekit.service.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URI in parts, none of them decoded; each is empty where the URI has none.
 *
 * @param scheme in lower case
 * @param login text before the last {@code @}
 * @param hosts text between that and the path
 * @param path with its slash
 * @param query without its question mark
 * @param name text after {@code #}; null without such a sign
 */
record UriParts(
    String scheme, String login, String hosts, String path, String query, @Nullable String name) {

  // Far above a cluster's seeds; bounds the list that is printed.
  private static final int MAX_NODES = 1_000;
  private static final Pattern URI =
      Pattern.compile(
          "(?<scheme>[A-Za-z][A-Za-z+.-]*)://((?<login>[^\\s\\p{Cntrl}]*)@)?"
              + "(?<hosts>[^/?#@]*)(?<path>/[^?#@]*)?(\\?(?<query>[^#@]*))?(#(?<name>[^@]*))?");
  // A host name, or an IPv6 address in brackets.
  private static final Pattern NODE =
      Pattern.compile(
          "(?<host>[0-9A-Za-z_.-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}])(:(?<port>[0-9]{1,5}))?");

  /** Splits the text; null when it does not have the form of a URI. */
  static @Nullable UriParts of(String text) {
    Matcher uri = URI.matcher(text);
    return uri.matches()
        ? new UriParts(
            part(uri, "scheme").toLowerCase(Locale.ROOT),
            part(uri, "login"),
            part(uri, "hosts"),
            part(uri, "path"),
            part(uri, "query"),
            uri.group("name"))
        : null;
  }

  /** Returns whether the text is one host, with or without a port. */
  static boolean isNode(String text) {
    return NODE.matcher(text).matches();
  }

  /** Returns the hosts and ports; at least one. */
  List<StoreAddress.Node> nodes(int standardPort) throws InvalidUriException {
    List<StoreAddress.Node> nodes = new ArrayList<>();
    for (String text : hosts.split(",", -1)) {
      Matcher node = NODE.matcher(text);
      if (!node.matches()) {
        throw new InvalidUriException("each host is a name or an IP address, then a port");
      }
      String port = part(node, "port");
      int number = port.isEmpty() ? standardPort : Integer.parseInt(port);
      if (number < 1 || number > 65_535) {
        throw new InvalidUriException("a port is a number from 1 to 65535");
      }
      nodes.add(new StoreAddress.Node(part(node, "host").replaceAll("[\\[\\]]", ""), number));
    }
    if (nodes.size() > MAX_NODES) {
      throw new InvalidUriException("there are more than " + MAX_NODES + " hosts");
    }
    return nodes;
  }

  /** Reports an error for a name after {@code #}, which is for Sentinels only. */
  void noName() throws InvalidUriException {
    if (name != null) {
      throw new InvalidUriException("a name after # needs redis-sentinel://");
    }
  }

  static boolean printable(String text) {
    return text.chars().noneMatch(Character::isISOControl);
  }

  private static String part(Matcher matcher, String name) {
    String part = matcher.group(name);
    return part == null ? "" : part;
  }
}
