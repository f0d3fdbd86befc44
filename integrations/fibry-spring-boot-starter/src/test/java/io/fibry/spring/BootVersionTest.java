package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.util.ClassUtils;

/** Tests the code that differs between the versions of Spring Boot. */
class BootVersionTest {
  private static final Path SOURCES = Path.of("src/main/java/io/fibry/spring");

  /** With another Spring Boot on the class path, this module would test the wrong version. */
  @Test
  void testsRunOnBootVersionOfTheirModule() {
    assertEquals(System.getProperty("boot.version"), SpringBootVersion.getVersion());
    assertEquals(SpringBootVersion.getVersion().startsWith("4."),
        ClassUtils.isPresent("org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory", null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Boot3Tomcat", "monitoring/Boot3Health"})
  void classesForSpringBoot3And4DifferOnlyInPackages(String type) throws Exception {
    assertEquals(lines(type), lines(type.replace("Boot3", "Boot4")));
  }

  /**
   * Returns the lines of a source file, with the names of Spring Boot 3 in place of the names of
   * Spring Boot 4.
   * They are sorted, because the names of packages decide the order of imports.
   */
  private static List<String> lines(String type) throws Exception {
    return Files.readString(SOURCES.resolve(type + ".java")).replace("Boot4", "Boot3").replace("Boot 4", "Boot 3")
        .replace("boot.health.autoconfigure.contributor.", "boot.actuate.autoconfigure.health.")
        .replace("boot.health.contributor.", "boot.actuate.health.")
        .replace("boot.tomcat.", "boot.web.embedded.tomcat.").lines().sorted().toList();
  }
}
