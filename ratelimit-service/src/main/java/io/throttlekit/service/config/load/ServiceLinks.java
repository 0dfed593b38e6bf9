package io.throttlekit.service.config.load;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The environment variables that Kubernetes sets in each container for the Services of its
 * namespace. A Service {@code throttlekit-grpc} has {@code THROTTLEKIT_GRPC_PORT}, which is a
 * setting, too.
 *
 * <p>Both the name and the value have to be of the form that Kubernetes writes, so that a misspelt
 * setting is still reported. No setting has a value of that form under a name of that form.
 */
final class ServiceLinks {
  private static final String IP =
      "(?:[0-9]{1,3}(?:\\.[0-9]{1,3}){3}|%s[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*%s)";
  private static final String NUMBER = "[0-9]{1,5}";
  private static final String PROTOCOL = "(?:TCP|UDP|SCTP)";

  private static final Pattern URL =
      Pattern.compile("(?:tcp|udp|sctp)://" + IP.formatted("\\[", "]") + ":" + NUMBER);

  /** The name of a Service in upper case, with underscores for hyphens, before a suffix. */
  private static final String SERVICE = "(?<service>[A-Z][A-Z0-9_]*)_";

  /** The names of the variables of a Service, with the form of their values. */
  private static final Map<Pattern, Pattern> FORMS =
      Map.of(
          named("PORT(?:_%s_%s)?".formatted(NUMBER, PROTOCOL)), URL,
          named("PORT_%s_%s_PROTO".formatted(NUMBER, PROTOCOL)), Pattern.compile("tcp|udp|sctp"),
          named("PORT_%s_%s_PORT".formatted(NUMBER, PROTOCOL)), Pattern.compile(NUMBER),
          named("PORT_%s_%s_ADDR".formatted(NUMBER, PROTOCOL)),
              Pattern.compile(IP.formatted("", "")),
          named("SERVICE_HOST"), Pattern.compile(IP.formatted("", "")),
          named("SERVICE_PORT(?:_[A-Z0-9_]+)?"), Pattern.compile(NUMBER));

  private ServiceLinks() {}

  private static Pattern named(String suffix) {
    return Pattern.compile(SERVICE + suffix);
  }

  /** Returns whether Kubernetes has set a variable for a Service. */
  static boolean isLink(String name, String value) {
    return FORMS.entrySet().stream()
        .anyMatch(form ->
            form.getKey().matcher(name).matches() && form.getValue().matcher(value).matches());
  }

  /**
   * Removes the variables of Services from an environment.
   *
   * @return the names of those that would have been read as a setting, or reported as an unknown
   *     one
   */
  static Set<String> removeFrom(Map<String, String> environment, Set<String> settings) {
    Set<String> removed = new TreeSet<>();
    environment
        .entrySet()
        .removeIf(variable -> {
          String name = variable.getKey();
          boolean link = isLink(name, variable.getValue());
          if (link && (name.startsWith("THROTTLEKIT_") || settings.contains(name))) {
            removed.add(name);
          }
          return link;
        });
    return removed;
  }
}
