package io.throttlekit.envoy.filter;

import com.google.protobuf.UInt32Value;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.MaskedRemoteAddress;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.DescriptorNode;
import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.policy.RuleSpec;
import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.descriptors.source.Wording;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Derives lists of actions from the descriptors of a domain. */
final class ActionDerivation {
  /** Rules that the comment of a list names. */
  private static final int MAX_NAMED = 4;

  private static final Pattern CIDR = Pattern.compile("([0-9a-fA-F.:]+)/([0-9]{1,3})");

  private final Map<String, EntrySource> sources;
  private final Map<SourceLocation, Rule> rules = new HashMap<>();
  private final Map<RouteChoice, List<ActionList>> lists = new LinkedHashMap<>();
  private final List<String> gaps = new ArrayList<>();
  private final List<String> guesses = new ArrayList<>();

  ActionDerivation(Map<String, EntrySource> sources, List<Rule> rules) {
    this.sources = sources;
    rules.forEach(rule -> this.rules.put(rule.location(), rule));
  }

  /** Descriptors of a level that entries of one action can find. */
  private record Group(FilledEntry entry, RouteChoice choice, List<DescriptorNode> nodes) {}

  void descend(List<DescriptorNode> level) {
    descend(level, List.of(), RouteChoice.NONE);
  }

  List<ActionList> common() {
    return lists.getOrDefault(RouteChoice.NONE, List.of());
  }

  Map<RouteChoice, List<ActionList>> ofRoutes() {
    Map<RouteChoice, List<ActionList>> ofRoutes = new LinkedHashMap<>(lists);
    ofRoutes.remove(RouteChoice.NONE);
    return ofRoutes;
  }

  List<String> gaps() {
    return gaps;
  }

  List<String> guesses() {
    return guesses;
  }

  private void descend(List<DescriptorNode> level, List<FilledEntry> above, RouteChoice choice) {
    for (Group group : groups(level, choice)) {
      List<FilledEntry> entries = new ArrayList<>(above);
      entries.add(group.entry());
      addLists(group, entries);
      List<DescriptorNode> below = new ArrayList<>();
      group.nodes().forEach(node -> below.addAll(node.children()));
      if (!below.isEmpty()) {
        descend(below, entries, group.choice());
      }
    }
  }

  /** Adds a list for the rules of a group; several if they are reached with different entries. */
  private void addLists(Group group, List<FilledEntry> entries) {
    Map<List<String>, List<RuleSpec>> byOwnEntries = new LinkedHashMap<>();
    for (DescriptorNode node : group.nodes()) {
      RuleSpec rule = node.rule();
      if (rule != null && needsCalls(rule)) {
        byOwnEntries.computeIfAbsent(rule.ownEntries(), _ -> new ArrayList<>()).add(rule);
      }
    }
    byOwnEntries.forEach((own, reached) -> {
      List<FilledEntry> all = new ArrayList<>(entries);
      String required = reached.getFirst().requiredEntry();
      own.forEach(key -> all.add(ofOwnEntry(key, !key.equals(required))));
      List<String> comments = new ArrayList<>(named(reached));
      if (byOwnEntries.size() > 1) {
        comments.add(
            "another list has the same keys and other entries of its rules: see that no"
                + " request is charged by both");
      }
      lists
          .computeIfAbsent(group.choice(), _ -> new ArrayList<>())
          .add(new ActionList(all, comments, false, ""));
    });
  }

  /** An unlimited rule needs a call only for what its match does to others, or to the response. */
  private static boolean needsCalls(RuleSpec rule) {
    if (rule.concurrency() != null) {
      return !(rule.concurrency().gate() instanceof AtEnvoys);
    }
    return !rule.unlimited() || !rule.replaces().isEmpty() || rule.metadata() != null;
  }

  private List<String> named(List<RuleSpec> reached) {
    List<String> lines = new ArrayList<>();
    for (RuleSpec spec : reached.subList(0, Math.min(MAX_NAMED, reached.size()))) {
      Rule rule = rules.get(spec.location());
      lines.add(
          (rule == null ? "" : Wording.quote(rule.path()) + ": " + rule.inWords() + ", ")
              + "at "
              + spec.location());
    }
    if (reached.size() > MAX_NAMED) {
      lines.add("and " + (reached.size() - MAX_NAMED) + " more rules");
    }
    return lines;
  }

  private List<Group> groups(List<DescriptorNode> level, RouteChoice choice) {
    Map<String, List<DescriptorNode>> byKey = new LinkedHashMap<>();
    level.stream()
        .filter(node -> !isNameOnly(node))
        .forEach(node -> byKey.computeIfAbsent(node.key(), _ -> new ArrayList<>()).add(node));
    List<Group> groups = new ArrayList<>();
    byKey.forEach((key, nodes) -> addGroups(key, nodes, choice, groups));
    return groups;
  }

  /** Returns whether key and value only name a limit of Envoy's own: no descriptor is sent. */
  private static boolean isNameOnly(DescriptorNode node) {
    RuleSpec rule = node.rule();
    return node.children().isEmpty()
        && rule != null
        && rule.concurrency() != null
        && rule.concurrency().gate() instanceof AtEnvoys;
  }

  private void addGroups(
      String key, List<DescriptorNode> nodes, RouteChoice choice, List<Group> groups) {
    EntrySource named = sources.get(key);
    if (named != null) {
      List<DescriptorNode> matching =
          named instanceof EntrySource.Constant(String value) ? found(nodes, key, value) : nodes;
      groups.add(new Group(FilledEntry.named(key, named, false), choice, matching));
      return;
    }
    FilledEntry known = FilledEntry.wellKnown(key, false);
    boolean open = nodes.stream().anyMatch(node -> node.value().isEmpty() || node.wildcard());
    if (key.indexOf('*') >= 0) {
      gap(nodes, "the key is a wildcard");
    } else if (known != null) {
      groups.add(new Group(known, choice, nodes));
    } else if (key.equals("masked_remote_address")) {
      addMasks(nodes, choice, groups);
    } else if (key.equals("header_match") || key.equals("query_match")) {
      gap(nodes, "Envoy sends it where a header or parameter matches, which no policy names");
    } else if (open && key.equals("generic_key")) {
      gap(nodes, "its values are those of routes");
    } else if (open) {
      groups.add(new Group(FilledEntry.guessed(key, false), choice, nodes));
    } else {
      addConstants(key, nodes, choice, groups);
    }
  }

  /** Returns the descriptors that an entry may find: the exact one, or else those without value. */
  private static List<DescriptorNode> found(List<DescriptorNode> nodes, String key, String value) {
    Predicate<DescriptorNode> exact = node -> node.value().equals(value);
    return nodes.stream().anyMatch(exact)
        ? nodes.stream().filter(exact).toList()
        : nodes.stream().filter(node -> node.matches(key, value)).toList();
  }

  private void addConstants(
      String key, List<DescriptorNode> nodes, RouteChoice choice, List<Group> groups) {
    Map<String, List<DescriptorNode>> byValue = new LinkedHashMap<>();
    nodes.forEach(node -> byValue.computeIfAbsent(node.value(), _ -> new ArrayList<>()).add(node));
    byValue.forEach((value, same) -> {
      boolean only = byValue.size() == 1;
      String comment = "";
      if (only && key.equals("generic_key")) { // never of a header
        comment = "a guess: the same for every request";
      } else if (only) {
        comment = FilledEntry.GUESSED_CONSTANT;
        guesses.add("%s (%s)".formatted(FilledEntry.text(key, value), same.getFirst().location()));
      }
      groups.add(
          new Group(
              FilledEntry.constant(key, value, comment),
              only ? choice : choice.and(key, value),
              same));
    });
  }

  /** Adds a group for each length of a prefix, as Envoy masks an address before it is compared. */
  private void addMasks(List<DescriptorNode> nodes, RouteChoice choice, List<Group> groups) {
    Map<String, List<DescriptorNode>> byLength = new LinkedHashMap<>();
    for (DescriptorNode node : nodes) {
      Matcher prefix = CIDR.matcher(node.value());
      if (prefix.matches()
          && Integer.parseInt(prefix.group(2)) > (prefix.group(1).contains(":") ? 128 : 32)) {
        gap(List.of(node), "no address has so long a prefix"); // Envoy would reject the filter
        continue;
      }
      String length =
          prefix.matches() ? (prefix.group(1).contains(":") ? "6/" : "4/") + prefix.group(2) : "";
      byLength.computeIfAbsent(length, _ -> new ArrayList<>()).add(node);
    }
    byLength.forEach((length, same) -> {
      MaskedRemoteAddress.Builder mask = MaskedRemoteAddress.newBuilder();
      if (!length.isEmpty()) {
        UInt32Value bits = UInt32Value.of(Integer.parseInt(length.substring(2)));
        if (length.startsWith("4")) {
          mask.setV4PrefixMaskLen(bits);
        } else {
          mask.setV6PrefixMaskLen(bits);
        }
      }
      String comment =
          length.isEmpty()
              ? "single addresses: set v4_prefix_mask_len and v6_prefix_mask_len for networks"
              : "";
      Action action = Action.newBuilder().setMaskedRemoteAddress(mask).build();
      groups.add(new Group(new FilledEntry(action, comment), choice, same));
    });
  }

  /** Returns the entry of a tenant, weight, priority or user. */
  private FilledEntry ofOwnEntry(String key, boolean optional) {
    EntrySource named = sources.get(key);
    if (named != null) {
      return FilledEntry.named(key, named, optional);
    }
    FilledEntry known = FilledEntry.wellKnown(key, optional);
    return known != null ? known : FilledEntry.guessed(key, optional);
  }

  private void gap(List<DescriptorNode> nodes, String why) {
    DescriptorNode first = nodes.getFirst();
    gaps.add("%s (%s): %s".formatted(Wording.quote(first.key()), first.location(), why));
  }
}
