package io.throttlekit.service.telemetry.statsd;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.throttlekit.service.config.StatsdConfig.Rewrite;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Gives statistics other names and tags: by the first rule whose pattern a name contains, in time
 * linear in its length. Immutable.
 */
final class NameRewriter {
  private static final Pattern REFERENCE = Pattern.compile("\\$[0-9]+");
  private static final SortedMap<String, String> NO_TAGS = new TreeMap<>();

  private record Rule(Pattern pattern, Rewrite rewrite) {}

  /** A name and its tags. */
  record Rewritten(String name, SortedMap<String, String> tags) {}

  private final List<Rule> rules;

  NameRewriter(List<Rewrite> rewrites) {
    this.rules =
        rewrites.stream().map(each -> new Rule(Pattern.compile(each.pattern()), each)).toList();
  }

  /** Returns the name and the tags for a name; the same name if no rule matches. */
  Rewritten rewrite(String name) {
    for (Rule rule : rules) {
      Matcher found = rule.pattern().matcher(name);
      if (found.find()) {
        SortedMap<String, String> tags = new TreeMap<>(rule.rewrite().tags());
        tags.replaceAll((_, value) -> expand(value, found));
        return new Rewritten(expand(rule.rewrite().name(), found), tags);
      }
    }
    return new Rewritten(name, NO_TAGS);
  }

  private static String expand(String template, Matcher found) {
    StringBuilder text = new StringBuilder();
    Matcher reference = REFERENCE.matcher(template);
    int done = 0;
    while (reference.find()) {
      String part = found.group(Integer.parseInt(reference.group().substring(1)));
      text.append(template, done, reference.start()).append(part == null ? "" : part);
      done = reference.end();
    }
    return text.append(template, done, template.length()).toString();
  }
}
