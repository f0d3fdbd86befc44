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

/** The packages in docs/architecture.md agree with the compiled classes. */
class ArchitectureDocTest {
  private static final Path DOC = Path.of("../docs/architecture.md");
  private static final Pattern PICTURE = Pattern.compile("(?ms)^```mermaid\n(.*?)^```$");

  @Test
  void documentedDiagramMatchesCode() throws Exception {
    var text = Files.readString(DOC);
    var shown = PICTURE.matcher(text).results().map(found -> found.group(1)).findFirst().orElseThrow();
    var drawn = picture(dependencies());

    if (Boolean.getBoolean("fibry.draw")) Files.writeString(DOC, text.replace(shown, drawn));
    else assertEquals(drawn, shown,
        "to draw it again: mvn -pl fibry-core test -Dtest=ArchitectureDocTest -Dfibry.draw=true");
  }

  @Test
  void everyPackageIsExplained() throws Exception {
    var text = Files.readString(DOC);

    assertEquals(List.of(),
        ArchitectureTest.LAYERS.keySet().stream().filter(name -> !text.contains("`" + name + "`")).toList());
  }

  private static Map<String, Set<String>> dependencies() {
    var needs = new TreeMap<String, Set<String>>();
    ArchitectureTest.eachDependency((from, to, text) -> {
      if (!ArchitectureTest.layer(from).equals(ArchitectureTest.layer(to)))
        needs.computeIfAbsent(ArchitectureTest.layer(from), none -> new TreeSet<>()).add(ArchitectureTest.layer(to));
    });
    return needs;
  }

  /** An arrow for each need that does not follow from the others. */
  private static String picture(Map<String, Set<String>> needs) {
    var picture = new StringBuilder("flowchart TD\n");
    needs.forEach((from, all) -> {
      for (var to : all) if (all.stream().noneMatch(other -> reaches(needs, other, to)))
        picture.append("  ").append(shown(from)).append(" --> ").append(shown(to)).append('\n');
    });
    return picture.toString();
  }

  private static boolean reaches(Map<String, Set<String>> needs, String from, String to) {
    return needs.getOrDefault(from, Set.of()).stream().anyMatch(next -> next.equals(to) || reaches(needs, next, to));
  }

  private static String shown(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
