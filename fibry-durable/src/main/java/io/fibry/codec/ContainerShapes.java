package io.fibry.codec;

import io.fibry.text.Lines;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The shapes of collections, maps, arrays and {@code Optional}s. Collections and maps that were
 * read cannot be changed.
 */
final class ContainerShapes {
  private ContainerShapes() {}

  /** Writes a collection or an array as an array of items of one shape. */
  private interface ItemsShape extends Shape {
    Shape item();

    @Override
    default void write(Object value, FormatWriter out) {
      var items = ((Collection<?>) value).toArray(); // one copy, because another thread may change the collection
      out.beginArray(items.length);
      for (int i = 0; i < items.length; i++) writeItem(items[i], i, item(), out);
      out.end();
    }

    @Override
    default boolean fitsDepth(int levels) {
      return levels > 0;
    }

    @Override
    default void sample(Sampler sampler, int levels) {
      boolean hasItem = item().fitsDepth(levels - 1);
      sampler.out().beginArray(hasItem ? 1 : 0);
      if (hasItem) item().sample(sampler, levels - 1);
      sampler.out().end();
    }
  }

  record ListShape(Shape item) implements ItemsShape {
    @Override
    public Object read(FormatReader in, Consumer<String> unknown) {
      return List.copyOf(readAll(in, item, unknown));
    }

    @Override
    public Object valueIfMissing() {
      return List.of();
    }

    @Override
    public String schemaText() {
      return "[" + item.schemaText() + "]";
    }
  }

  record SetShape(Shape item) implements ItemsShape {
    @Override
    public Object read(FormatReader in, Consumer<String> unknown) {
      var items = readAll(in, item, unknown);
      var set = new LinkedHashSet<Object>(items);
      if (set.size() < items.size()) throw in.failure("a set has an element twice");
      return Collections.unmodifiableSet(set);
    }

    @Override
    public Object valueIfMissing() {
      return Set.of();
    }

    @Override
    public String schemaText() {
      return "set [" + item.schemaText() + "]";
    }
  }

  record ArrayShape(Class<?> elementType, Shape item) implements ItemsShape {
    @Override
    public void write(Object value, FormatWriter out) {
      int length = Array.getLength(value);
      out.beginArray(length);
      for (int i = 0; i < length; i++) writeItem(Array.get(value, i), i, item, out);
      out.end();
    }

    @Override
    public Object read(FormatReader in, Consumer<String> unknown) {
      var items = readAll(in, item, unknown);
      Object array = Array.newInstance(elementType, items.size());
      for (int i = 0; i < items.size(); i++) Array.set(array, i, items.get(i));
      return array;
    }

    @Override
    public Object valueIfMissing() {
      return Array.newInstance(elementType, 0);
    }

    @Override
    public String schemaText() {
      return "[" + item.schemaText() + "]";
    }
  }

  record MapShape(Shape key, Shape value) implements Shape {
    @Override
    public void write(Object map, FormatWriter out) {
      var entries = List.copyOf(((Map<?, ?>) map).entrySet()); // a copy, because another thread may change the map
      out.beginMap(entries.size());
      for (var entry : entries) {
        writeItem(entry.getKey(), "a key", key, out);
        writeItem(entry.getValue(), entry.getKey(), value, out);
      }
      out.end();
    }

    @Override
    public Object read(FormatReader in, Consumer<String> unknown) {
      in.beginMap();
      var map = new LinkedHashMap<Object, Object>();
      while (in.next()) {
        Object mapKey = readItem(in, "a key", key, unknown);
        if (map.put(mapKey, readItem(in, mapKey, value, unknown)) != null)
          throw in.failure("a map has a key twice");
      }
      in.end();
      return Collections.unmodifiableMap(map);
    }

    @Override
    public Object valueIfMissing() {
      return Map.of();
    }

    @Override
    public boolean fitsDepth(int levels) {
      return levels > 0;
    }

    @Override
    public void sample(Sampler sampler, int levels) {
      boolean hasEntry = key.fitsDepth(levels - 1) && value.fitsDepth(levels - 1);
      sampler.out().beginMap(hasEntry ? 1 : 0);
      if (hasEntry) {
        key.sample(sampler, levels - 1);
        value.sample(sampler, levels - 1);
      }
      sampler.out().end();
    }

    @Override
    public String schemaText() {
      return "{" + key.schemaText() + ": " + value.schemaText() + "}";
    }
  }

  record OptionalShape(Shape item) implements Shape {
    @Override
    public void write(Object value, FormatWriter out) {
      var optional = (Optional<?>) value;
      if (optional.isPresent()) item.write(optional.get(), out);
      else out.nothing();
    }

    @Override
    public Object read(FormatReader in, Consumer<String> unknown) {
      return in.isNothing() ? Optional.empty() : Optional.of(item.read(in, unknown));
    }

    @Override
    public Object valueIfMissing() {
      return Optional.empty();
    }

    @Override
    public void sample(Sampler sampler, int levels) {
      if (item.fitsDepth(levels)) item.sample(sampler, levels);
      else sampler.out().nothing();
    }

    @Override
    public String schemaText() {
      return item.schemaText() + "?";
    }
  }

  private static void writeItem(Object value, Object position, Shape item, FormatWriter out) {
    try {
      if (value == null) throw CodecException.ofFault("it is null");
      item.write(value, out);
    } catch (CodecException failure) {
      throw failure.enclosedBy("[" + Lines.line(String.valueOf(position)) + "]");
    }
  }

  private static List<Object> readAll(FormatReader in, Shape item, Consumer<String> unknown) {
    in.beginArray();
    var items = new ArrayList<Object>();
    while (in.next()) items.add(readItem(in, items.size(), item, unknown));
    in.end();
    return items;
  }

  private static Object readItem(FormatReader in, Object position, Shape item, Consumer<String> unknown) {
    try {
      return Objects.requireNonNull(item.read(in, unknown));
    } catch (CodecException failure) {
      throw failure.enclosedBy("[" + Lines.line(String.valueOf(position)) + "]");
    }
  }
}
