package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;

/**
 * Finds code that puts the text of a user's object into another text as it is: by a concatenation,
 * in the line of a log, by {@code toString}, {@code String.valueOf} or {@code getMessage}. Such a
 * text may have line breaks, with which a message forges lines of a log, and a scope may keep it to
 * itself. {@code MessageTexts}, {@code Lines}, {@code shown} and {@code asked} take care of both,
 * so their arguments are free. An object counts as a user's if its static type is {@code Object}, a
 * type variable, an exception, or any type of the JDK that is not known to be plain.
 */
public final class RawTexts {
  private RawTexts() {}

  /**
   * Fails unless the raw texts in the main code of this module are exactly these.
   *
   * @param reasons why a text is needed as it is, by its place
   */
  public static void check(Map<String, String> reasons) throws IOException {
    assertEquals(reasons.keySet(), in(Path.of("src/main/java")),
        "write the text of a user's object by MessageTexts, Lines, shown or asked; or give a reason here");
  }

  /**
   * {@return each place as {@code File.java: expression}} It needs a compiler: on a runtime without
   * one the test is skipped.
   *
   * @param sources folder of the main code of a module, whose class path this JVM has
   */
  public static Set<String> in(Path sources) throws IOException {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.compiler").isPresent(), "no compiler is here");
    return RawTextSearch.in(sources);
  }
}
