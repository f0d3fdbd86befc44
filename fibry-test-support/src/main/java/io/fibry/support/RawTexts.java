package io.fibry.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;

/**
 * Finds raw texts: code that puts the text of a user's object unchanged into another text. It
 * checks concatenations, log lines, {@code toString}, {@code String.valueOf} and
 * {@code getMessage}. Line breaks in such a text could forge log lines, and a scope may forbid that
 * the contents of messages are logged. {@code MessageTexts}, {@code Lines}, {@code shown} and
 * {@code asked} prevent both, so their arguments are not checked. User types are {@code Object},
 * type variables, exceptions, and JDK types that are not known to be plain. The static type of an
 * expression decides. A {@code Duration} is checked, too, because its own text is PT0.3S.
 */
public final class RawTexts {
  private RawTexts() {}

  /**
   * Fails unless the main code of this module has exactly these raw texts.
   *
   * @param reasons the reason for each raw text; the key is its place as {@link #in} returns it
   */
  public static void check(Map<String, String> reasons) throws IOException {
    assertEquals(reasons.keySet(), in(Path.of("src/main/java")),
        "write the text of a user's object with MessageTexts, Lines, shown or asked, and a duration with Durations; "
            + "or add a reason to the test");
  }

  /**
   * Returns the place of each raw text as {@code File.java: expression}. Without a compiler, the
   * test is skipped.
   *
   * @param sources the folder of a module's main code; this JVM must have the module's class path
   */
  public static Set<String> in(Path sources) throws IOException {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.compiler").isPresent(), "this runtime has no compiler");
    return RawTextSearch.in(sources);
  }
}
