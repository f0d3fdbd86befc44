package io.fibry;

import static io.fibry.Repository.ROOT;
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

/** Conditions of a release that a test can check. */
class ReleaseTest {
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(fibry-[^<]*)</artifactId>");
  private static final Pattern PROFILE = Pattern.compile("(?s)<profile>(.*?)</profile>");
  private static final Pattern MODULE = Pattern.compile("<module>([^<]*)</module>");
  private static final Set<String> ALWAYS = Set.of("fibry-parent", "fibry-test-support", "fibry-core"); // are built
  private static final Pattern OURS = Pattern.compile(
      "(?:<groupId>io\\.fibry</groupId>\\s*<artifactId>fibry-[^<]*</artifactId>\\s*<version>"
          + "|\"io\\.fibry:fibry-[^:\"]*:)([^<\"]*)");
  private static final Pattern HEADER = Pattern.compile("(?i)copyright|licensed under|spdx");
  private static final Pattern BOTTOM = Pattern.compile("<bottom><!\\[CDATA\\[.*Apache License 2\\.0.*]]></bottom>");

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(file.toString(), unreadable);
    }
  }

  @Test
  void publishedModulesAreInTheBillOfMaterials() {
    var listed = ARTIFACT.matcher(read(ROOT.resolve("fibry-bom/pom.xml"))).results().map(found -> found.group(1))
        .collect(Collectors.toSet());

    var published = Repository.files("/pom.xml").stream().map(ReleaseTest::read)
        .filter(pom -> !pom.contains("<packaging>pom</packaging>") && !pom.contains("<maven.deploy.skip>true"))
        .map(ReleaseTest::artifact).collect(Collectors.toCollection(TreeSet::new));

    assertTrue(published.contains("fibry-core"), published.toString());
    published.removeAll(listed);
    assertEquals(Set.of(), published);
  }

  /** The first that is not the parent. */
  private static String artifact(String pom) {
    return ARTIFACT.matcher(pom).results().map(found -> found.group(1)).filter(name -> !name.equals("fibry-parent"))
        .findFirst().orElseThrow();
  }

  @Test
  void eachProfileBuildsWhatItsModulesNeed() {
    PROFILE.matcher(read(ROOT.resolve("pom.xml"))).results().map(found -> found.group(1)).forEach(profile -> {
      var poms = MODULE.matcher(profile).results().map(found -> read(ROOT.resolve(found.group(1)).resolve("pom.xml")))
          .toList();
      var built = poms.stream().map(ReleaseTest::artifact).collect(Collectors.toSet());

      var missing = poms.stream().flatMap(pom -> ARTIFACT.matcher(pom).results()).map(found -> found.group(1))
          .filter(needed -> !built.contains(needed) && !ALWAYS.contains(needed)).collect(Collectors.toSet());

      assertEquals(Set.of(), missing, profile.strip().lines().findFirst().orElseThrow());
    });
  }

  @Test
  void allModulesHaveOneVersion() {
    var versions = Repository.files("/pom.xml", "/README.md").stream().map(ReleaseTest::read)
        .flatMap(pom -> OURS.matcher(pom).results()).map(found -> found.group(1))
        .filter(version -> !version.equals("${project.version}")).collect(Collectors.toSet());

    assertEquals(1, versions.size(), versions.toString());
  }

  @Test
  void licenseIsInOneFileAndInNoHeader() {
    var headed = Repository.files(".java", ".kt").stream()
        .filter(file -> HEADER.matcher(head(read(file))).find()).toList();

    assertEquals(List.of(), headed);
    assertTrue(read(ROOT.resolve("LICENSE")).contains("Apache License"));
  }

  @Test
  void javadocNamesTheLicenseAtTheBottomOfEachPage() {
    assertTrue(BOTTOM.matcher(read(ROOT.resolve("pom.xml"))).find());
  }

  /** The text before the package declaration. */
  private static String head(String source) {
    int code = source.indexOf("package ");
    return code < 0 ? "" : source.substring(0, code);
  }
}
