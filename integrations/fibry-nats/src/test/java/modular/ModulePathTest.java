package modular;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.nats.Servers;
import io.fibry.support.Child;
import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests that codecs can access the library's own types when the library is on the module path. */
class ModulePathTest {
  private static final List<String> TEST_PARTS =
      List.of("test-classes", "fibry-test", "junit", "opentest4j", "apiguardian");

  @Test
  void programRunsWithLibraryOnModulePath() {
    var classPath = Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));
    var modules = classPath.stream().filter(part -> TEST_PARTS.stream().noneMatch(part::contains))
        .collect(Collectors.joining(File.pathSeparator));
    var program = classPath.stream().filter(part -> part.endsWith("test-classes")).findFirst().orElseThrow();

    try (var child = Child.java(List.of("-XX:TieredStopAtLevel=1", "--module-path", modules, "--add-modules",
        "io.fibry.nats", "-cp", program, "modular.Shop", Servers.app(), Servers.shared().url()))) {
      assertEquals("module io.fibry.cluster, module io.fibry.nats: 4", child.awaitExit(0).lines().toList().getLast());
    }
  }
}
