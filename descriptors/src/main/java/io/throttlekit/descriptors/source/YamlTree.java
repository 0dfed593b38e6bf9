package io.throttlekit.descriptors.source;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Builds the tree of a source's first document from parser events, so that depth and aliases are
 * bounded during reading and not after.
 */
public final class YamlTree {
  /** Maximum depth of lists and mappings: enough for 64 nested descriptors and their rate_limit. */
  static final int MAX_DEPTH = 130;

  /** Maximum number of values in one file, aliases included: about 100 MB of tree. */
  static final int MAX_NODES = 1_000_000;

  /** Maximum number of nodes that all aliases together may stand for. */
  static final int MAX_ALIASED = 100_000;

  private final String file;
  private final Problems problems;
  private final Iterator<Event> events;
  private final Map<String, Anchored> anchors = new HashMap<>();
  private final Set<String> open = new HashSet<>();
  private int deepest;
  private int nodes;
  private int aliased;

  private YamlTree(String file, Problems problems, Iterator<Event> events) {
    this.file = file;
    this.problems = problems;
    this.events = events;
  }

  private record Anchored(YamlNode node, int height, int size) {}

  /** Signals an error after which the rest of the file cannot be read. */
  private static final class Unparsable extends Exception {
    private static final long serialVersionUID = 1;
    private final transient Problem problem;

    Unparsable(SourceLocation location, String message, String hint) {
      super(message, null, false, false);
      this.problem = new Problem(Severity.ERROR, location, message, hint);
    }
  }

  /** Reads the first document of {@code source}; {@code null} after reporting why there is none. */
  public static @Nullable YamlNode read(PolicySource source, Problems problems) {
    if (!SourceText.isReadable(source, problems)) {
      return null;
    }
    String text = SourceText.withoutByteOrderMark(source.text());
    LoadSettings settings =
        LoadSettings.builder()
            .setLabel(source.name())
            .setCodePointLimit(SourceText.MAX_BYTES)
            // At once: the parser copies a token again for every buffer that it spans.
            .setBufferSize(text.length() + 1)
            .build();
    try {
      YamlTree tree =
          new YamlTree(source.name(), problems, new Parse(settings).parseString(text).iterator());
      YamlNode root = tree.firstDocument();
      tree.warnOfFurtherDocuments();
      return root;
    } catch (Unparsable e) {
      problems.add(e.problem);
    } catch (YamlEngineException e) {
      SyntaxProblem.report(source.name(), text, e, problems);
    }
    return null;
  }

  private YamlNode firstDocument() throws Unparsable {
    while (events.hasNext()) {
      Event event = events.next();
      switch (event.getEventId()) {
        case StreamStart, DocumentStart, Comment -> {}
        case StreamEnd -> {
          return new YamlNode.Scalar(at(event), "", ScalarKind.NULL);
        }
        default -> {
          return node(event, 1);
        }
      }
    }
    return new YamlNode.Scalar(new SourceLocation(file, 1, 1), "", ScalarKind.NULL);
  }

  private void warnOfFurtherDocuments() {
    try {
      Event start = null;
      while (events.hasNext()) {
        Event event = events.next();
        if (event.getEventId() == Event.ID.DocumentStart) {
          start = event;
        } else if (start != null && event instanceof NodeEvent content && !isNothing(content)) {
          problems.warning(
              at(start),
              "only the first document of a file is read: what follows has no effect",
              "put each domain into a file of its own");
          return;
        }
      }
    } catch (YamlEngineException e) {
      problems.warning(
          new SourceLocation(file, 1, 1),
          "what follows the first document is not YAML and has no effect",
          "remove it");
    }
  }

  /** Returns whether a document consists of this alone: `---` at the end of a file. */
  private static boolean isNothing(NodeEvent content) {
    return content instanceof ScalarEvent scalar && scalar.isPlain() && scalar.getValue().isEmpty();
  }

  private YamlNode node(Event event, int depth) throws Unparsable {
    if (event instanceof AliasEvent alias) {
      return alias(alias, depth);
    }
    // By its text: Anchor is not comparable, so a map could not order those of equal hash codes.
    Optional<String> anchor =
        event instanceof NodeEvent node ? node.getAnchor().map(Anchor::getValue) : Optional.empty();
    if (anchor.isEmpty()) {
      return content(event, depth);
    }
    int deepestBefore = deepest;
    int nodesBefore = nodes;
    deepest = depth;
    boolean nested = !open.add(anchor.get());
    YamlNode node = content(event, depth);
    // The same anchor may be defined again inside of itself; only the outermost closes it.
    if (!nested) {
      open.remove(anchor.get());
    }
    anchors.put(anchor.get(), new Anchored(node, deepest - depth, nodes - nodesBefore));
    deepest = Math.max(deepest, deepestBefore);
    return node;
  }

  private YamlNode alias(AliasEvent alias, int depth) throws Unparsable {
    String name = alias.getAlias().getValue();
    Anchored anchored = anchors.get(name);
    if (open.contains(name)) {
      return unreadable(alias, "the alias " + Wording.quote("*" + name) + " contains itself", "");
    }
    if (anchored == null) {
      return unreadable(
          alias,
          "the alias " + Wording.quote("*" + name) + " has no anchor above it",
          "anchors are written &name");
    }
    checkDepth(alias, depth + anchored.height());
    // Aliases count as if they were written out: nested ones would grow exponentially.
    nodes += anchored.size();
    aliased += anchored.size();
    if (aliased > MAX_ALIASED) {
      throw new Unparsable(
          at(alias), "the aliases of this file stand for more than " + MAX_ALIASED + " nodes", "");
    }
    return anchored.node();
  }

  private YamlNode content(Event event, int depth) throws Unparsable {
    nodes++;
    if (nodes > MAX_NODES) {
      throw new Unparsable(
          at(event), "more than " + MAX_NODES + " values in one file", "split it into several");
    }
    return switch (event) {
      case ScalarEvent scalar -> scalar(scalar);
      case SequenceStartEvent start -> {
        checkDepth(start, depth);
        List<YamlNode> items = new ArrayList<>();
        for (Event next = events.next();
            next.getEventId() != Event.ID.SequenceEnd;
            next = events.next()) {
          items.add(node(next, depth + 1));
        }
        yield new YamlNode.Sequence(at(event), items);
      }
      case MappingStartEvent start -> {
        checkDepth(start, depth);
        List<YamlNode.Entry> entries = new ArrayList<>();
        for (Event next = events.next();
            next.getEventId() != Event.ID.MappingEnd;
            next = events.next()) {
          YamlNode key = node(next, depth + 1);
          entries.add(new YamlNode.Entry(key, node(events.next(), depth + 1)));
        }
        yield new YamlNode.Mapping(at(event), entries);
      }
      default -> throw new Unparsable(at(event), "not valid YAML here", "");
    };
  }

  private YamlNode scalar(ScalarEvent event) {
    String tag = event.getTag().orElse("");
    @Nullable ScalarKind kind =
        switch (tag) {
          case "" -> event.isPlain() ? ScalarKind.ofPlain(event.getValue()) : ScalarKind.TEXT;
          case "tag:yaml.org,2002:int",
              "tag:yaml.org,2002:bool",
              "tag:yaml.org,2002:float",
              "tag:yaml.org,2002:null" ->
              ScalarKind.ofPlain(event.getValue());
          case "tag:yaml.org,2002:binary", "tag:yaml.org,2002:timestamp" -> null;
          default -> ScalarKind.TEXT;
        };
    return kind == null
        ? unreadable(
            event,
            "the tag " + Wording.quote(tag) + " is not supported",
            "write the text itself, in quotes")
        : new YamlNode.Scalar(at(event), event.getValue(), kind);
  }

  /** Reports an error that affects one value only, so that all others are still checked. */
  private YamlNode unreadable(Event event, String message, String hint) {
    problems.error(at(event), message, hint);
    return new YamlNode.Unreadable(at(event));
  }

  private void checkDepth(Event event, int depth) throws Unparsable {
    deepest = Math.max(deepest, depth);
    if (depth > MAX_DEPTH) {
      throw new Unparsable(at(event), "nested too deeply", "at most 64 levels of descriptors");
    }
  }

  private SourceLocation at(Event event) {
    return SyntaxProblem.place(file, event.getStartMark());
  }
}
