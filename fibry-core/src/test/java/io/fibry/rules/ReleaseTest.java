package io.fibry.rules;

import static io.fibry.rules.Repository.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks conditions that each release must meet. */
class ReleaseTest {
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(fibry-[^<]*)</artifactId>");
  private static final Pattern PROFILE = Pattern.compile("(?s)<profile>(.*?)</profile>");
  private static final Pattern MODULE = Pattern.compile("<module>([^<]*)</module>");
  private static final Set<String> ALWAYS_BUILT = Set.of("fibry-parent", "fibry-test-support", "fibry-core");
  private static final Pattern OWN_VERSION = Pattern.compile(
      "(?:<groupId>io\\.fibry</groupId>\\s*<artifactId>fibry-[^<]*</artifactId>\\s*<version>"
          + "|\"io\\.fibry:fibry-[^:\"]*:)([^<\"]*)");
  private static final Pattern HEADER = Pattern.compile("(?i)copyright|licensed under|spdx");
  private static final Pattern JAVADOC_BOTTOM =
      Pattern.compile("<bottom><!\\[CDATA\\[.*Apache License 2\\.0.*]]></bottom>");

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(file.toString(), failure);
    }
  }

  @Test
  void publishedModulesAreInBillOfMaterials() {
    var bomArtifacts = ARTIFACT.matcher(read(ROOT.resolve("fibry-bom/pom.xml"))).results().map(match -> match.group(1))
        .collect(Collectors.toSet());

    var publishedArtifacts = Repository.files("/pom.xml").stream().map(ReleaseTest::read)
        .filter(pom -> !pom.contains("<packaging>pom</packaging>") && !pom.contains("<maven.deploy.skip>true"))
        .map(ReleaseTest::artifact).collect(Collectors.toCollection(TreeSet::new));

    assertTrue(publishedArtifacts.contains("fibry-core"), publishedArtifacts.toString());
    publishedArtifacts.removeAll(bomArtifacts);
    assertEquals(Set.of(), publishedArtifacts);
  }

  /** Returns the first artifact in the POM that is not the parent. */
  private static String artifact(String pom) {
    return ARTIFACT.matcher(pom).results().map(match -> match.group(1)).filter(name -> !name.equals("fibry-parent"))
        .findFirst().orElseThrow();
  }

  @Test
  void mavenProfilesBuildAllModulesThatTheirModulesNeed() {
    PROFILE.matcher(read(ROOT.resolve("pom.xml"))).results().map(match -> match.group(1)).forEach(profile -> {
      var poms = MODULE.matcher(profile).results().map(match -> read(ROOT.resolve(match.group(1)).resolve("pom.xml")))
          .toList();
      var builtArtifacts = poms.stream().map(ReleaseTest::artifact).collect(Collectors.toSet());

      var missing = poms.stream().flatMap(pom -> ARTIFACT.matcher(pom).results()).map(match -> match.group(1))
          .filter(needed -> !builtArtifacts.contains(needed) && !ALWAYS_BUILT.contains(needed))
          .collect(Collectors.toSet());

      assertEquals(Set.of(), missing, profile.strip().lines().findFirst().orElseThrow());
    });
  }

  @Test
  void allModulesHaveSameVersion() {
    var versions = Repository.files("/pom.xml", "/README.md").stream().map(ReleaseTest::read)
        .flatMap(pom -> OWN_VERSION.matcher(pom).results()).map(match -> match.group(1))
        .filter(version -> !version.equals("${project.version}")).collect(Collectors.toSet());

    assertEquals(1, versions.size(), versions.toString());
  }

  @Test
  void noSourceFileHasLicenseHeader() {
    var filesWithHeader = Repository.files(".java", ".kt").stream()
        .filter(file -> HEADER.matcher(head(read(file))).find()).toList();

    assertEquals(List.of(), filesWithHeader);
    assertTrue(read(ROOT.resolve("LICENSE")).contains("Apache License"));
  }

  @Test
  void javadocPagesNameLicense() {
    assertTrue(JAVADOC_BOTTOM.matcher(read(ROOT.resolve("pom.xml"))).find());
  }

  /** Returns the text before the package declaration. */
  private static String head(String source) {
    int code = source.indexOf("package ");
    return code < 0 ? "" : source.substring(0, code);
  }
}
