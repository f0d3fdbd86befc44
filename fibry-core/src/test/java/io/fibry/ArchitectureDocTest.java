package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the packages in docs/architecture.md agree with the compiled classes. */
class ArchitectureDocTest {
  private static final Path DOC = Path.of("../docs/architecture.md");
  private static final Pattern DIAGRAM = Pattern.compile("(?ms)^```mermaid\n(.*?)^```$");

  @Test
  void documentedDiagramMatchesCode() throws Exception {
    var text = Files.readString(DOC);
    var documentedDiagram = DIAGRAM.matcher(text).results().map(match -> match.group(1)).findFirst().orElseThrow();
    var codeDiagram = diagramOf(dependencies());

    if (Boolean.getBoolean("fibry.draw")) Files.writeString(DOC, text.replace(documentedDiagram, codeDiagram));
    else assertEquals(codeDiagram, documentedDiagram,
        "to update the diagram of docs/architecture.md: mvn -pl fibry-core test -Dtest=ArchitectureDocTest -Dfibry.draw=true");
  }

  @Test
  void architectureDocumentNamesEachPackage() throws Exception {
    var text = Files.readString(DOC);

    assertEquals(List.of(),
        ArchitectureTest.LAYERS.keySet().stream().filter(name -> !text.contains("`" + name + "`")).toList());
  }

  private static Map<String, Set<String>> dependencies() {
    var dependencies = new TreeMap<String, Set<String>>();
    ArchitectureTest.eachDependency((from, to, text) -> {
      if (!ArchitectureTest.layer(from).equals(ArchitectureTest.layer(to)))
        dependencies.computeIfAbsent(ArchitectureTest.layer(from), layer -> new TreeSet<>())
            .add(ArchitectureTest.layer(to));
    });
    return dependencies;
  }

  /**
   * Returns a diagram with an arrow for each dependency that does not follow from other
   * dependencies.
   */
  private static String diagramOf(Map<String, Set<String>> dependencies) {
    var diagram = new StringBuilder("flowchart TD\n");
    dependencies.forEach((from, targets) -> {
      for (var to : targets) if (targets.stream().noneMatch(target -> reaches(dependencies, target, to)))
        diagram.append("  ").append(simpleName(from)).append(" --> ").append(simpleName(to)).append('\n');
    });
    return diagram.toString();
  }

  private static boolean reaches(Map<String, Set<String>> dependencies, String from, String to) {
    return dependencies.getOrDefault(from, Set.of()).stream()
        .anyMatch(next -> next.equals(to) || reaches(dependencies, next, to));
  }

  private static String simpleName(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
