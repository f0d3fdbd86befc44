package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests the first pages of the Javadoc: the pages of the module and of its packages. */
class JavadocPagesTest {
  private static final Path MAIN = Path.of("src/main/java");
  private static final Pattern EXPORTS = Pattern.compile("exports ([\\w.]+);");
  private static final Pattern ADDRESS = Pattern.compile("href=\"([^\"]*)\"");
  private static final Pattern REPOSITORY = Pattern.compile("(?s)<scm.*<url>(.*?)</url>.*</scm>");

  @Test
  void frontPageLinksToRepositoryAndGuide() throws Exception {
    var matcher = REPOSITORY.matcher(Files.readString(Path.of("../pom.xml")));
    assertTrue(matcher.find());
    var repository = matcher.group(1);

    var links = ADDRESS.matcher(module()).results().map(match -> match.group(1)).toList();

    assertEquals(List.of(repository + "/docs/guide/README.md", repository), links);
    assertTrue(Files.exists(Path.of("..").resolve("docs/guide/README.md")));
  }

  @Test
  void everyBlockIsLinkedFromItsPackagePage() throws Exception {
    var missing = new ArrayList<String>();

    for (var blockPackage : BlocksDocTest.PACKAGES) {
      var page = page("io.fibry." + blockPackage);
      BlocksDocTest.blocks(blockPackage)
          .filter(type -> !page.contains("{@link io.fibry." + blockPackage + "." + type + "}"))
          .forEach(missing::add);
    }

    assertEquals(List.of(), missing);
  }

  @Test
  void javadocPagesOfPackagesNameNoInternalType() throws Exception {
    var exportedPackages = exportedPackages();
    var concealedTypes = ArchitectureTest.MAIN.stream()
        .filter(type -> type.isTopLevelClass() && !(isPublic(type) && exportedPackages.contains(type.getPackageName())))
        .map(JavaClass::getSimpleName)
        .collect(Collectors.toSet());

    for (var name : exportedPackages) {
      var words = new TreeSet<>(List.of(page(name).split("\\W+")));
      words.retainAll(concealedTypes);
      assertEquals(Set.of(), words, name);
    }
  }

  private static boolean isPublic(JavaClass type) {
    return type.getModifiers().contains(JavaModifier.PUBLIC);
  }

  private static List<String> exportedPackages() throws Exception {
    return EXPORTS.matcher(module()).results().map(match -> match.group(1)).toList();
  }

  private static String module() throws Exception {
    return Files.readString(MAIN.resolve("module-info.java"));
  }

  private static String page(String name) throws Exception {
    return Files.readString(MAIN.resolve(name.replace('.', '/')).resolve("package-info.java"));
  }
}
