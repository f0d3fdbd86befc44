package io.fibry;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;

/** Every promise of docs/semantics.md has a test, and every {@link Promise} is in the document. */
class SemanticsDocTest {
  private static final Path DOCUMENT = Path.of("../docs/semantics.md");
  private static final Pattern SECTION_OR_PROMISE = Pattern.compile("(## )?(\\d+)\\. .*");
  private static final List<JavaMethod> ANNOTATED =
      new ClassFileImporter().importPath(Path.of("target/test-classes")).stream()
          .flatMap(type -> type.getMethods().stream()).filter(method -> method.isAnnotatedWith(Promise.class)).toList();

  @Test
  void everyPromiseHasATestAndEveryTestItsPromise() throws Exception {
    var promised = promised();
    var shown =
        ANNOTATED.stream().map(test -> test.getAnnotationOfType(Promise.class).value()).flatMap(Stream::of).toList();

    assertTrue(promised.size() > 200, () -> "only " + promised.size() + " promises");
    assertAll(
        () -> assertEquals(List.of(), without(promised, shown), "promises of docs/semantics.md without a test"),
        () -> assertEquals(List.of(), without(shown, promised), "numbers at tests, without a promise in the document"));
  }

  @Test
  void onlyTestsShowPromises() {
    assertEquals(List.of(), ANNOTATED.stream().filter(method -> !method.isMetaAnnotatedWith(Testable.class)).toList());
  }

  /** The promises as "section.line". Lines are numbered from 1, without gaps. */
  private static List<String> promised() throws Exception {
    var promised = new ArrayList<String>();
    String section = "";
    int line = 0;
    for (var text : Files.readAllLines(DOCUMENT)) {
      var found = SECTION_OR_PROMISE.matcher(text);
      if (!found.matches()) continue;
      if (found.group(1) != null) {
        section = found.group(2);
        line = 0;
      } else {
        assertEquals(++line, Integer.parseInt(found.group(2)), "number in section " + section + " of: " + text);
        promised.add(section + "." + line);
      }
    }
    return promised;
  }

  private static List<String> without(Collection<String> all, Collection<String> others) {
    var known = new HashSet<>(others);
    return all.stream().filter(number -> !known.contains(number)).distinct().toList();
  }
}
