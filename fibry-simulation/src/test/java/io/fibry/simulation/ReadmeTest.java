package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that {@link SnippetsTest} has README.md's code, and README.md names all public methods. */
class ReadmeTest {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");

  private static String readme() throws Exception {
    return Files.readString(Path.of("README.md"));
  }

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var testCode = unindented(Files.readString(Path.of("src/test/java/io/fibry/simulation/SnippetsTest.java")));
    var blocks = BLOCK.matcher(readme()).results().map(match -> match.group(1)).toList();

    assertEquals(3, blocks.size());
    assertEquals(List.of(), blocks.stream().filter(block -> !testCode.contains(unindented(block))).toList());
  }

  private static String unindented(String code) {
    return code.replaceAll("(?m)^ +", "");
  }

  @Test
  void readmeNamesEveryPublicMethod() throws Exception {
    var text = readme();

    var names = Stream.of(Simulation.class, Simulation.Options.class, Faults.class, SimulatedNetwork.class)
        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
        .filter(method -> Modifier.isPublic(method.getModifiers())).map(method -> method.getName());

    assertEquals(List.of(), names.distinct().filter(name -> !text.contains(name)).sorted().toList());
  }
}
