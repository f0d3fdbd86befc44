package modular;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.nats.Servers;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the library writes and reads of its own is open to where that is done. */
class ModulePathTest {
  private static final List<String> OF_TESTS =
      List.of("test-classes", "fibry-test", "junit", "opentest4j", "apiguardian");

  @Test
  void aProgramRunsWithTheLibraryAsModules() throws Exception {
    var all = Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));
    var modules = all.stream().filter(part -> OF_TESTS.stream().noneMatch(part::contains))
        .collect(Collectors.joining(File.pathSeparator));
    var program = all.stream().filter(part -> part.endsWith("test-classes")).findFirst().orElseThrow();
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();

    var process = new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "--module-path", modules, "--add-modules",
        "io.fibry.nats", "-cp", program, "modular.Shop", Servers.app(), Servers.shared().url())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var printed = new String(process.getInputStream().readAllBytes()).strip();

    process.waitFor(20, TimeUnit.SECONDS);
    assertEquals("module io.fibry.cluster, module io.fibry.nats: 4", printed);
  }
}
