package io.throttlekit.service.telemetry.mapping;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** A YAML document as maps, lists and texts: every scalar is a text. */
final class YamlTree {
  private static final int MAX_DEPTH = 16;

  private final Iterator<Event> events;

  private YamlTree(Iterator<Event> events) {
    this.events = events;
  }

  /**
   * Returns the first document.
   *
   * @throws MappingSyntaxException if it is not YAML, is nested too deeply or has aliases, which
   *     can stand for exponentially many nodes
   */
  static Object parse(String text) throws MappingSyntaxException {
    LoadSettings settings = LoadSettings.builder().setUseMarks(true).build();
    try {
      Iterator<Event> events = new Parse(settings).parseString(text).iterator();
      events.next(); // the start of the stream
      Event document = events.next();
      if (document.getEventId() == Event.ID.StreamEnd) {
        throw new MappingSyntaxException("it is empty");
      }
      return new YamlTree(events).node(events.next(), 0);
    } catch (MarkedYamlEngineException e) {
      String line =
          e.getProblemMark().map(mark -> "line " + (mark.getLine() + 1) + ": ").orElse("");
      throw new MappingSyntaxException(line + e.getProblem());
    } catch (YamlEngineException e) {
      throw new MappingSyntaxException(String.valueOf(e.getMessage()));
    }
  }

  private Object node(Event event, int depth) throws MappingSyntaxException {
    if (depth > MAX_DEPTH) {
      throw new MappingSyntaxException("it is nested too deeply");
    }
    return switch (event) {
      case ScalarEvent scalar -> scalar.getValue();
      case SequenceStartEvent _ -> list(depth + 1);
      case MappingStartEvent _ -> map(depth + 1);
      case AliasEvent _ -> throw new MappingSyntaxException("YAML aliases are not supported");
      default -> throw new MappingSyntaxException("it is no single document");
    };
  }

  private List<Object> list(int depth) throws MappingSyntaxException {
    List<Object> list = new ArrayList<>();
    for (Event next = events.next(); !(next instanceof SequenceEndEvent); next = events.next()) {
      list.add(node(next, depth));
    }
    return list;
  }

  private Map<String, Object> map(int depth) throws MappingSyntaxException {
    Map<String, Object> map = new LinkedHashMap<>();
    for (Event next = events.next(); !(next instanceof MappingEndEvent); next = events.next()) {
      if (!(next instanceof ScalarEvent key)) {
        throw new MappingSyntaxException("a key has to be a text");
      }
      if (map.put(key.getValue(), node(events.next(), depth)) != null) {
        throw new MappingSyntaxException(Fields.shown(key.getValue()) + " is given twice");
      }
    }
    return map;
  }
}
