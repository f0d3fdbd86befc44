package io.fibry;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
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

/** Every promise of docs/semantics.md has a test, and every {@link Promise} is in the document. */
class SemanticsDocTest {
  private static final Path DOCUMENT = Path.of("../docs/semantics.md");
  private static final Pattern SECTION_OR_PROMISE = Pattern.compile("(## )?(\\d+)\\. .*");
  private static final Path OF_DURABLE_ACTORS = Path.of("../fibry-durable/PROMISES.md"); // which has tests of its own
  private static final String DURABLE = "28."; // the section that only names lines of that document
  private static final String SIMULATION = "29."; // the section whose tests are in fibry-simulation
  private static final Pattern NAMED = Pattern.compile("\\*\\*([A-Z][a-z ]+)\\*\\* (\\d+(?:, \\d+)*)");
  private static final List<JavaMethod> ANNOTATED =
      new ClassFileImporter().importPath(Path.of("target/test-classes")).stream()
          .flatMap(type -> type.getMethods().stream()).filter(method -> method.isAnnotatedWith(Promise.class)).toList();

  @Test
  void everyPromiseHasATestAndEveryTestItsPromise() throws Exception {
    var promised = promised().keySet().stream()
        .filter(number -> !number.startsWith(DURABLE) && !number.startsWith(SIMULATION)).toList();
    var shown =
        ANNOTATED.stream().map(test -> test.getAnnotationOfType(Promise.class).value()).flatMap(Stream::of).toList();

    assertTrue(promised.size() > 200, () -> "only " + promised.size() + " promises");
    assertAll(
        () -> assertEquals(List.of(), without(promised, shown), "promises of docs/semantics.md without a test"),
        () -> assertEquals(List.of(), without(shown, promised), "numbers at tests, without a promise in the document"));
  }

  @Test
  void durableChangesReferToDurablePromises() throws Exception {
    var changes = new LinkedHashMap<>(promised());
    changes.keySet().removeIf(number -> !number.startsWith(DURABLE));
    var promised = ofDurableActors();

    assertTrue(changes.size() > 5 && promised.size() > 25, () -> changes.size() + " and " + promised.size());
    changes.forEach((number, text) -> {
      var named = NAMED.matcher(text).results()
          .flatMap(found -> Stream.of(found.group(2).split(", ")).map(line -> found.group(1) + " " + line)).toList();
      assertFalse(named.isEmpty(), () -> number + " names no line of " + OF_DURABLE_ACTORS);
      assertEquals(List.of(), without(named, promised), number);
    });
  }

  /** Returns texts of the form "group line". */
  private static List<String> ofDurableActors() throws Exception {
    var promised = new ArrayList<String>();
    String group = "";
    for (var text : Files.readAllLines(OF_DURABLE_ACTORS)) {
      var found = SECTION_OR_PROMISE.matcher(text);
      if (text.startsWith("**")) group = text.replace("**", "");
      else if (found.matches()) promised.add(group + " " + found.group(2));
    }
    return promised;
  }

  @Test
  void onlyTestMethodsCarryPromiseAnnotation() {
    assertEquals(List.of(), ANNOTATED.stream().filter(method -> !method.isMetaAnnotatedWith(Testable.class)).toList());
  }

  /** The promises by "section.line". Lines are numbered from 1, without gaps. */
  private static Map<String, String> promised() throws Exception {
    var promised = new LinkedHashMap<String, String>();
    String section = "";
    int line = 0;
    for (var text : Files.readAllLines(DOCUMENT)) {
      var found = SECTION_OR_PROMISE.matcher(text);
      if (!found.matches()) {
        if (line > 0) promised.merge(section + "." + line, text.strip(), (before, more) -> before + " " + more);
      } else if (found.group(1) != null) {
        section = found.group(2);
        line = 0;
      } else {
        assertEquals(++line, Integer.parseInt(found.group(2)), "number in section " + section + " of: " + text);
        promised.put(section + "." + line, text);
      }
    }
    return promised;
  }

  private static List<String> without(Collection<String> all, Collection<String> others) {
    var known = new HashSet<>(others);
    return all.stream().filter(number -> !known.contains(number)).distinct().toList();
  }
}
