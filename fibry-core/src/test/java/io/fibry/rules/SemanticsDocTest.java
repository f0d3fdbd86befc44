package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.fibry.testing.Promise;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;

/**
 * Tests that every promise of docs/semantics.md has a test, and that every number in a
 * {@link Promise} is in the document.
 */
class SemanticsDocTest {
  private static final Path DOCUMENT = Path.of("../docs/semantics.md");
  private static final Pattern SECTION_OR_PROMISE = Pattern.compile("(## )?(\\d+)\\. .*");
  private static final Path DURABLE_DOCUMENT = Path.of("../fibry-durable/PROMISES.md"); // a document with its own test
  private static final String DURABLE_SECTION = "28."; // each of its lines refers to lines of DURABLE_DOCUMENT
  private static final String SIMULATION_SECTION = "29."; // has its tests in fibry-simulation
  private static final String TEST_KIT_SECTION = "30."; // has its tests in fibry-test
  private static final Pattern REFERENCE = Pattern.compile("\\*\\*([A-Z][a-z ]+)\\*\\* (\\d+(?:, \\d+)*)");
  private static final List<JavaMethod> METHODS =
      new ClassFileImporter().importPath(Path.of("target/test-classes")).stream()
          .flatMap(type -> type.getMethods().stream()).filter(method -> method.isAnnotatedWith(Promise.class)).toList();

  @Test
  void promisesInDocumentMatchPromiseAnnotations() throws Exception {
    var promises = promises().keySet().stream()
        .filter(number -> !number.startsWith(DURABLE_SECTION) && !number.startsWith(SIMULATION_SECTION)
            && !number.startsWith(TEST_KIT_SECTION))
        .toList();
    var numbers =
        METHODS.stream().map(test -> test.getAnnotationOfType(Promise.class).value()).flatMap(Stream::of).toList();

    assertTrue(promises.size() > 200, () -> "only " + promises.size() + " promises");
    assertAll(
        () -> assertEquals(List.of(), missing(promises, numbers), "promises of docs/semantics.md without a test"),
        () -> assertEquals(List.of(), missing(numbers, promises), "numbers at tests that the document does not have"));
  }

  @Test
  void semanticsOfDurableActorsReferToDurablePromises() throws Exception {
    var changes = new LinkedHashMap<>(promises());
    changes.keySet().removeIf(number -> !number.startsWith(DURABLE_SECTION));
    var promises = durablePromises();

    assertTrue(changes.size() > 5 && promises.size() > 25, () -> changes.size() + " and " + promises.size());
    changes.forEach((number, text) -> {
      var references = REFERENCE.matcher(text).results()
          .flatMap(match -> Stream.of(match.group(2).split(", ")).map(line -> match.group(1) + " " + line)).toList();
      assertFalse(references.isEmpty(), () -> number + " names no line of " + DURABLE_DOCUMENT);
      assertEquals(List.of(), missing(references, promises), number);
    });
  }

  /** Returns the promises of durable actors, as texts of the form "group line". */
  private static List<String> durablePromises() throws Exception {
    var promises = new ArrayList<String>();
    String group = "";
    for (var text : Files.readAllLines(DURABLE_DOCUMENT)) {
      var match = SECTION_OR_PROMISE.matcher(text);
      if (text.startsWith("**")) group = text.replace("**", "");
      else if (match.matches()) promises.add(group + " " + match.group(2));
    }
    return promises;
  }

  @Test
  void onlyTestMethodsCarryPromiseAnnotation() {
    assertEquals(List.of(), METHODS.stream().filter(method -> !method.isMetaAnnotatedWith(Testable.class)).toList());
  }

  /**
   * Returns the texts of the promises by their numbers, which have the form "section.line". Asserts
   * that the lines of a section are numbered from 1, without gaps.
   */
  private static Map<String, String> promises() throws Exception {
    var promises = new LinkedHashMap<String, String>();
    String section = "";
    int line = 0;
    for (var text : Files.readAllLines(DOCUMENT)) {
      var match = SECTION_OR_PROMISE.matcher(text);
      if (!match.matches()) {
        if (line > 0) promises.merge(section + "." + line, text.strip(), (promise, more) -> promise + " " + more);
      } else if (match.group(1) != null) {
        section = match.group(2);
        line = 0;
      } else {
        assertEquals(++line, Integer.parseInt(match.group(2)), "number in section " + section + " of: " + text);
        promises.put(section + "." + line, text);
      }
    }
    return promises;
  }

  private static List<String> missing(Collection<String> numbers, Collection<String> others) {
    var otherSet = new HashSet<>(others);
    return numbers.stream().filter(number -> !otherSet.contains(number)).distinct().toList();
  }
}
