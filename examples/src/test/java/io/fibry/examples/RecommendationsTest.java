package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Everything that the tables of docs/blocks.md recommend exists. */
class RecommendationsTest {
  private static final Path DOC = Path.of("../docs/blocks.md");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| .*? \\| (.*?) \\|(?: .*? \\|)?$");
  private static final Pattern NAME = Pattern.compile("`((?:[A-Z]\\w+\\.)+)(\\w+)");
  private static final Pattern PACKAGE = Pattern.compile("import (io\\.fibry.*)\\.\\*;");
  private static final List<String> PACKAGES =
      PACKAGE.matcher(JshellTest.imports()).results().map(found -> found.group(1)).toList();

  @Test
  void recommendedNamesExist() throws Exception {
    var names = ROW.matcher(Files.readString(DOC)).results().map(row -> row.group(1))
        .flatMap(cell -> NAME.matcher(cell).results()).toList();

    assertTrue(names.size() > 80, () -> names.size() + " names");
    assertEquals(List.of(),
        names.stream().filter(name -> !exists(name)).map(MatchResult::group).distinct().sorted().toList());
  }

  /** A public method or constant of the library, or of a JDK type that the tables name. */
  private static boolean exists(MatchResult name) {
    String type = name.group(1).substring(0, name.group(1).length() - 1).replace('.', '$');
    return PACKAGES.stream().anyMatch(part -> has(part + "." + type, name.group(2)));
  }

  private static boolean has(String type, String member) {
    try {
      var found = Class.forName(type);
      return Arrays.stream(found.getMethods()).anyMatch(method -> method.getName().equals(member))
          || Arrays.stream(found.getFields()).anyMatch(field -> field.getName().equals(member));
    } catch (ClassNotFoundException none) {
      return false;
    }
  }
}
