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

/** Tests that all names in the tables of docs/blocks.md exist. */
class RecommendationsTest {
  private static final Path DOC = Path.of("../docs/blocks.md");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| .*? \\| (.*?) \\|(?: .*? \\|)?$");
  private static final Pattern NAME = Pattern.compile("`((?:[A-Z]\\w+\\.)+)(\\w+)");
  private static final Pattern PACKAGE = Pattern.compile("import (io\\.fibry.*)\\.\\*;");
  private static final List<String> PACKAGES =
      PACKAGE.matcher(JshellTest.imports()).results().map(match -> match.group(1)).toList();

  @Test
  void namesRecommendedInBlocksPageExist() throws Exception {
    var names = ROW.matcher(Files.readString(DOC)).results().map(row -> row.group(1))
        .flatMap(cell -> NAME.matcher(cell).results()).toList();

    assertTrue(names.size() > 80, () -> names.size() + " names");
    assertEquals(List.of(),
        names.stream().filter(name -> !exists(name)).map(MatchResult::group).distinct().sorted().toList());
  }

  /** Returns whether the name is a public method or constant of a type in an imported package. */
  private static boolean exists(MatchResult name) {
    String type = name.group(1).substring(0, name.group(1).length() - 1).replace('.', '$');
    return PACKAGES.stream().anyMatch(packageName -> hasMember(packageName + "." + type, name.group(2)));
  }

  private static boolean hasMember(String type, String member) {
    try {
      var memberType = Class.forName(type);
      return Arrays.stream(memberType.getMethods()).anyMatch(method -> method.getName().equals(member))
          || Arrays.stream(memberType.getFields()).anyMatch(field -> field.getName().equals(member));
    } catch (ClassNotFoundException missing) {
      return false;
    }
  }
}
