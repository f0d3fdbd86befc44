package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Checks that a simple name stands for one type in all published modules. So a reader who searches
 * for a type finds it, and a name in a stack trace or a document needs no package.
 */
class TypeNamesRulesTest {
  private static final String PROPERTIES = "a group of the properties of Spring";
  private static final String STORED = "is written to stores or to other nodes under this name";

  /** Names that several types share, each with its reason. */
  private static final Map<String, String> SHARED = Map.ofEntries(
      Map.entry("Cluster", PROPERTIES),
      Map.entry("Mailbox", PROPERTIES),
      Map.entry("Store", PROPERTIES),
      Map.entry("Watchdog", PROPERTIES),
      Map.entry("Done", STORED),
      Map.entry("Failed", STORED),
      Map.entry("Kind", STORED),
      Map.entry("Health", "of a cluster and of a folder store; users write both with their outer types"),
      Map.entry("Options", "the options of a type, nested in the type"),
      Map.entry("Program", "a program of the operating system, and a simulated program"),
      Map.entry("Stateful", "a handler with a state, and the builder that takes it"));

  private static final Pattern DECLARATION = Pattern.compile("\\b(?:class|interface|record|enum) ([A-Z]\\w*)");

  @Test
  void simpleNamesOfTypesAreUnique() throws IOException {
    var files = new TreeMap<String, TreeSet<String>>();
    Repository.libraryCode().forEach((file, code) -> DECLARATION.matcher(code).results()
        .forEach(type -> files.computeIfAbsent(type.group(1), name -> new TreeSet<>()).add(file)));
    files.values().removeIf(paths -> paths.size() == 1);

    assertEquals(new TreeSet<>(SHARED.keySet()), new TreeSet<>(files.keySet()),
        () -> "give one of the types another name, or a reason here: " + files);
  }
}
