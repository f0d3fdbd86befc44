package io.fibry.jackson;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.jackson", Set.of("JacksonCodecs", "JsonBodyCodec", "MappedTypes")));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.ofEntries(
        entry(Set.of("JsonFormat", "JsonReader", "JsonWriter"),
            "a format creates readers and writers, which use its factory of parsers and its limits"));
  }
}
