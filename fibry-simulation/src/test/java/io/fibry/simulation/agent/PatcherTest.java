package io.fibry.simulation.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.simulation.Jvm;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/** Tests that all classes can be patched, and that the JVM's verifier accepts them. */
class PatcherTest {
  private static final Path BASE = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base");

  /** Links classes that the agent changes, which verifies them. A VerifyError ends the program. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      AgentAttacher.ensure();
      int linked = 0;
      for (var name : names()) if (canLink(name)) linked++;
      System.out.println("linked " + linked);
    }

    private static List<String> names() throws IOException {
      var names = new ArrayList<>(classes(BASE).stream().filter(RedirectTable::isChanged).toList());
      for (var entry : System.getProperty("java.class.path").split(System.getProperty("path.separator"))) {
        if (Files.isDirectory(Path.of(entry))) names.addAll(classes(Path.of(entry)));
        else names.addAll(entries(entry));
      }
      return names;
    }

    private static List<String> entries(String jar) throws IOException {
      try (var file = new JarFile(jar)) {
        return file.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class"))
            .filter(name -> !name.startsWith("META-INF/") && !name.endsWith("-info.class"))
            .map(PatcherTest::withoutSuffix).toList();
      }
    }

    /** Returns false if the class needs another class that is missing. */
    private static boolean canLink(String name) {
      try {
        Class.forName(name.replace('/', '.'), false, Program.class.getClassLoader()).getDeclaredMethods();
        return true;
      } catch (VerifyError failure) {
        throw failure;
      } catch (LinkageError | ClassNotFoundException missing) {
        return false;
      }
    }
  }

  @Test
  void allClassesOfJdkCanBePatched() throws IOException {
    var redirects = RedirectTable.of(RedirectTable.ALL_ROWS, Runtime.version().feature());
    var types = new ThreadTypes(null);
    int patched = 0;
    var names = classes(BASE);

    for (var name : names) {
      byte[] bytes = Files.readAllBytes(BASE.resolve(name + ".class"));
      if (ClassPatcher.patch(bytes, redirects, types) != null) patched++;
    }

    assertTrue(names.size() > 5_000, "only " + names.size() + " classes");
    assertTrue(patched > 100, "only " + patched + " have a call that is redirected");
  }

  @Test
  void verifierAcceptsAllPatchedClasses() throws Exception {
    var agent = Path.of("target/agent.jar").toAbsolutePath();

    var printed = Jvm.run(0, List.of("-Xverify:all", "-javaagent:" + agent), Jvm.CLASS_PATH, Program.class);

    var summary = printed.substring(printed.lastIndexOf("linked ")).strip();
    assertTrue(Integer.parseInt(summary.substring(7)) > 2_000, printed);
    assertFalse(printed.contains("leaves it unchanged"), printed);
  }

  @Test
  void patchReturnsNullForClassWithoutRedirectedCalls() throws IOException {
    var redirects = RedirectTable.of(RedirectTable.ALL_ROWS, Runtime.version().feature());

    assertEquals(null, ClassPatcher.patch(Files.readAllBytes(BASE.resolve("java/lang/Runnable.class")), redirects,
        new ThreadTypes(null)));
  }

  @Test
  void subclassOfThreadIsRecognizedByItsSuperclasses() {
    var types = new ThreadTypes(PatcherTest.class.getClassLoader());

    assertTrue(types.isThread("java/util/concurrent/ForkJoinWorkerThread"));
    assertFalse(types.isThread("java/lang/Process"));
    assertFalse(types.isThread("of/another/World"));
    assertFalse(types.isThread("[Ljava/lang/Thread;"));
  }

  private static List<String> classes(Path root) throws IOException {
    try (var files = Files.walk(root)) {
      return files.map(file -> root.relativize(file).toString()).filter(name -> name.endsWith(".class"))
          .filter(name -> !name.endsWith("-info.class")).map(PatcherTest::withoutSuffix).toList();
    }
  }

  private static String withoutSuffix(String file) {
    return file.substring(0, file.length() - ".class".length()).replace('\\', '/');
  }
}
