package io.fibry.jackson;

import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;

/**
 * Finds the fields whose null values, or null elements, reached a constructor that then threw. Used
 * by one thread, for one body.
 */
final class NullFieldFinder extends DeserializationProblemHandler {
  private List<String> names = List.of(); // names in JSON
  private final Set<String> elements = new HashSet<>(); // the names that are paths of elements

  /**
   * Returns the names of the fields that were null, in the order of the constructor. A list or map
   * with null elements has the path of its first, such as {@code lines[0]}.
   */
  List<String> names() {
    return names;
  }

  /** Returns whether the name is the path of an element, not a field. */
  boolean isElement(String name) {
    return elements.contains(name);
  }

  @Override
  public Object handleInstantiationProblem(DeserializationContext context, Class<?> type, Object argument,
      Throwable failure) {
    names = List.of();
    var deserializer = context.findNonContextualValueDeserializer(context.constructType(type));
    if (argument instanceof Object[] values && deserializer instanceof BeanDeserializerBase bean) {
      var fields = bean.getValueInstantiator().getFromObjectArguments(context.getConfig());
      if (fields != null && fields.length == values.length) {
        names = new ArrayList<>();
        for (int i = 0; i < values.length; i++) {
          var nullPath = nullPath(values[i]);
          if (nullPath == null) continue;
          names.add(fields[i].getName() + nullPath);
          if (values[i] != null) elements.add(names.getLast());
        }
      }
    }
    return NOT_HANDLED;
  }

  /** Returns an empty text for null, or the path of the first null element, or null. */
  private static String nullPath(Object value) {
    if (value == null) return "";
    if (value instanceof Map<?, ?> map)
      return map.entrySet().stream().filter(entry -> entry.getValue() == null)
          .map(entry -> "." + Lines.line(entry.getKey().toString()))
          .findFirst().orElse(null);
    var elements = value instanceof Object[] array ? Arrays.asList(array)
        : value instanceof Collection<?> collection ? collection : List.of();
    int index = 0;
    for (var element : elements) {
      if (element == null) return "[" + index + "]";
      index++;
    }
    return null;
  }
}
