package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Tests that the README's Java code runs, its properties are complete and its links valid. */
class ReadmeTest {
  private static final Path README = Path.of("README.md");
  private static final Path CODE = Path.of("src/test/java/io/fibry/spring/ReadmeBeansTest.java");
  private static final Path METADATA = Path.of("target/classes/META-INF/spring-configuration-metadata.json");
  private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)\\)");

  private static List<String> blocks(String language) throws Exception {
    return Pattern.compile("(?ms)^```" + language + "\n(.*?)^```$").matcher(Files.readString(README)).results()
        .map(match -> match.group(1)).toList();
  }

  @Test
  void readmeJavaCodeIsRunByTest() throws Exception {
    var code = Files.readString(CODE);

    assertEquals(List.of(), blocks("java").stream().filter(block -> !code.contains(block)).toList());
  }

  @Test
  void readmeListsAllProperties() throws Exception {
    var documented = new Properties();
    documented.load(new StringReader(String.join("", blocks("properties"))));

    assertEquals(metadata().keySet(), new TreeSet<>(documented.stringPropertyNames()));
  }

  @Test
  void readmePropertiesAreValid() throws Exception {
    var lines =
        String.join("", blocks("properties")).lines().filter(line -> !line.startsWith("#")).toArray(String[]::new);

    new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(FibryAutoConfiguration.class))
        .withPropertyValues(lines).run(context -> assertNull(context.getStartupFailure()));
  }

  @Test
  void eachPropertyHasDescription() throws Exception {
    metadata().forEach(
        (name, property) -> assertFalse(String.valueOf(property.getOrDefault("description", "")).isBlank(), name));
  }

  @Test
  void readmeNamesTestedVersions() throws Exception {
    var tested = Pattern.compile("\\d+\\.\\d+").matcher(System.getProperty("boot.version"));

    assertTrue(tested.find());
    assertTrue(Pattern.compile("All its tests run on Spring Boot [^:]*" + Pattern.quote(tested.group()))
        .matcher(Files.readString(README)).find(), tested.group());
  }

  @Test
  void filesLinkedInReadmeExist() throws Exception {
    var links = LINK.matcher(Files.readString(README)).results().map(match -> match.group(1)).toList();

    assertFalse(links.isEmpty());
    assertEquals(List.of(), links.stream().filter(link -> !Files.exists(Path.of(link))).toList());
  }

  @Test
  void readmeBeginsWithCode() throws Exception {
    assertTrue(Files.readAllLines(README).indexOf("```java") < 10);
  }

  /** Returns the generated metadata of Fibry's properties, by name. */
  @SuppressWarnings("unchecked") // the JSON is a list of objects
  private static Map<String, Map<String, Object>> metadata() throws Exception {
    var json = JsonParserFactory.getJsonParser().parseMap(Files.readString(METADATA));
    var fibryProperties = new TreeMap<String, Map<String, Object>>();
    for (var property : (List<Map<String, Object>>) json.get("properties")) {
      String name = property.get("name").toString();
      // other prefixes belong to Actuator's endpoints
      if (name.startsWith("fibry.")) fibryProperties.put(name, property);
    }
    return fibryProperties;
  }
}
