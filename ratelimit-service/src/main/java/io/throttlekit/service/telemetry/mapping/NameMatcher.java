package io.throttlekit.service.telemetry.mapping;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The part of a mapping that selects names of statistics. */
sealed interface NameMatcher {

  /** The parts of a name to which templates refer. */
  @FunctionalInterface
  interface Match {
    /**
     * Returns a template with its references replaced; one to a part that is missing by nothing.
     */
    String expand(String template);
  }

  /** Returns the match of a name; null if there is none. */
  @Nullable Match match(String name);

  /**
   * Compares the parts between dots; {@code *} stands for any single one. {@code $1} or {@code
   * ${1}} refers to the first such part.
   *
   * @param fields the parts of the pattern
   */
  record Glob(List<String> fields) implements NameMatcher {
    private static final Pattern REFERENCE = Pattern.compile("\\$\\{?([0-9]{1,4})}?");

    static Glob of(String pattern) {
      return new Glob(List.of(pattern.split("\\.", -1)));
    }

    @Override
    public @Nullable Match match(String name) {
      List<String> parts = new ArrayList<>();
      int start = 0;
      for (String field : fields) {
        if (start > name.length()) { // the name has fewer parts
          return null;
        }
        int dot = name.indexOf('.', start);
        int end = dot < 0 ? name.length() : dot;
        if (field.equals("*")) {
          parts.add(name.substring(start, end));
        } else if (field.length() != end - start || !name.startsWith(field, start)) {
          return null;
        }
        start = end + 1;
      }
      return start <= name.length() ? null : template -> expand(template, parts);
    }

    private static String expand(String template, List<String> parts) {
      StringBuilder text = new StringBuilder();
      Matcher reference = REFERENCE.matcher(template);
      int done = 0;
      while (reference.find()) {
        int number = Integer.parseInt(reference.group(1));
        text.append(template, done, reference.start())
            .append(number >= 1 && number <= parts.size() ? parts.get(number - 1) : "");
        done = reference.end();
      }
      return text.append(template, done, template.length()).toString();
    }
  }

  /**
   * Searches a name for a regular expression, in time linear in its length. References are those of
   * Go: the longest sequence of letters, digits and underscores after {@code $} names the group, so
   * {@code $1_x} is not group 1; {@code $$} is a dollar sign.
   */
  record Regex(Pattern pattern) implements NameMatcher {
    private static final Pattern REFERENCE =
        Pattern.compile("\\$(?:\\$|\\{([0-9A-Za-z_]+)}|([0-9A-Za-z_]+))");

    @Override
    public @Nullable Match match(String name) {
      Matcher found = pattern.matcher(name);
      return found.find() ? template -> expand(template, found) : null;
    }

    private String expand(String template, Matcher found) {
      StringBuilder text = new StringBuilder();
      Matcher reference = REFERENCE.matcher(template);
      int done = 0;
      while (reference.find()) {
        String braced = reference.group(1);
        String group = braced == null ? reference.group(2) : braced;
        text.append(template, done, reference.start())
            .append(group == null ? "$" : part(group, found));
        done = reference.end();
      }
      return text.append(template, done, template.length()).toString();
    }

    private String part(String group, Matcher found) {
      Integer named = pattern.namedGroups().get(group);
      int number = named != null ? named : number(group);
      String part = number >= 0 && number <= pattern.groupCount() ? found.group(number) : null;
      return part == null ? "" : part;
    }

    private static int number(String group) {
      boolean digits = group.length() <= 4 && group.chars().allMatch(c -> c >= '0' && c <= '9');
      return digits ? Integer.parseInt(group) : -1;
    }
  }
}
