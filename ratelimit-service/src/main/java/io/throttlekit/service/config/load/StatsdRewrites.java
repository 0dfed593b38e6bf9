package io.throttlekit.service.config.load;

import com.google.re2j.PatternSyntaxException;
import io.throttlekit.service.config.StatsdConfig.Rewrite;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rewrites of the names of statistics, as a text: {@code PATTERN NAME TAG:VALUE,… ; PATTERN NAME …}
 *
 * @param text as it was configured
 * @param rules in its order
 */
record StatsdRewrites(String text, List<Rewrite> rules) {
  private static final int MAX_RULES = 32;
  private static final int MAX_PATTERN = 1_000;
  private static final Pattern NAME = Pattern.compile("[^:|\\s\\p{C}]{1,1000}");
  private static final Pattern TAG =
      Pattern.compile("([0-9A-Za-z_.-]{1,64}):([^,|\\s\\p{C}]{1,200})");
  private static final Pattern REFERENCE = Pattern.compile("\\$([0-9]+)");

  /**
   * Returns the rewrites of a text.
   *
   * @throws InvalidTextException with the first mistake
   */
  static StatsdRewrites parse(String text) throws InvalidTextException {
    List<Rewrite> rules = new ArrayList<>();
    List<String> words = new ArrayList<>();
    for (String word : (text + " ;").strip().split("\\s+", -1)) {
      if (!word.equals(";")) {
        words.add(word);
      } else if (!words.isEmpty()) {
        rules.add(rule(words));
        words.clear();
      }
    }
    if (rules.size() > MAX_RULES) {
      throw new InvalidTextException("there are more than " + MAX_RULES + " rules");
    }
    return new StatsdRewrites(text, List.copyOf(rules));
  }

  private static Rewrite rule(List<String> words) throws InvalidTextException {
    if (words.size() < 2 || words.size() > 3) {
      throw new InvalidTextException("each rule is PATTERN NAME or PATTERN NAME TAG:VALUE,…");
    }
    String pattern = words.get(0);
    String name = words.get(1);
    int groups = groups(pattern);
    if (!NAME.matcher(name).matches()) {
      throw new InvalidTextException(Yaml.alwaysQuoted(name) + " is not the name of a statistic");
    }
    checkReferences(name, groups);
    SortedMap<String, String> tags = new TreeMap<>();
    for (String pair : words.size() < 3 ? new String[0] : words.get(2).split(",", -1)) {
      Matcher tag = TAG.matcher(pair);
      if (!tag.matches()) {
        throw new InvalidTextException(Yaml.alwaysQuoted(pair) + " is not a tag NAME:VALUE");
      }
      checkReferences(tag.group(2), groups);
      tags.put(tag.group(1), tag.group(2));
    }
    return new Rewrite(pattern, name, Collections.unmodifiableSortedMap(tags));
  }

  private static int groups(String pattern) throws InvalidTextException {
    try {
      if (pattern.length() <= MAX_PATTERN) {
        return com.google.re2j.Pattern.compile(pattern).groupCount();
      }
    } catch (PatternSyntaxException e) {
      throw new InvalidTextException(
          Yaml.alwaysQuoted(pattern) + " is not a regular expression: " + e.getDescription());
    }
    throw new InvalidTextException("a pattern has more than " + MAX_PATTERN + " characters");
  }

  private static void checkReferences(String template, int groups) throws InvalidTextException {
    Matcher reference = REFERENCE.matcher(template);
    while (reference.find()) {
      String number = reference.group(1);
      if (number.length() > 3 || Integer.parseInt(number) > groups) {
        throw new InvalidTextException(
            "$%s is in %s, but the pattern has %d groups"
                .formatted(number, Yaml.alwaysQuoted(template), groups));
      }
    }
  }

  @Override
  public String toString() {
    return text;
  }
}
