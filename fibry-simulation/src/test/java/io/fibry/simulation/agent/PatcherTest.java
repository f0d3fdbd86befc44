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

/** All classes that there are can be patched, and the JVM's verifier accepts them. */
class PatcherTest {
  private static final Path BASE = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base");

  /** Links, and so verifies, classes that the agent changes: a VerifyError ends it. */
  static final class Program {
    public static void main(String[] args) throws Exception {
      AgentAttacher.ensure();
      int linked = 0;
      for (var name : names()) if (links(name)) linked++;
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

    /** Returns false if the class needs another class that is not here. */
    private static boolean links(String name) {
      try {
        Class.forName(name.replace('/', '.'), false, Program.class.getClassLoader()).getDeclaredMethods();
        return true;
      } catch (VerifyError refused) {
        throw refused;
      } catch (LinkageError | ClassNotFoundException missing) {
        return false;
      }
    }
  }

  @Test
  void allClassesOfTheJdkCanBePatched() throws IOException {
    var redirects = RedirectTable.of(RedirectTable.ALL_ROWS, Runtime.version().feature());
    var ancestry = new ThreadTypes(null);
    int patched = 0;
    var names = classes(BASE);

    for (var name : names) {
      byte[] bytes = Files.readAllBytes(BASE.resolve(name + ".class"));
      if (ClassPatcher.patch(bytes, redirects, ancestry) != null) patched++;
    }

    assertTrue(names.size() > 5_000, "only " + names.size() + " classes");
    assertTrue(patched > 100, "only " + patched + " have a call that is redirected");
  }

  @Test
  void theVerifierAcceptsAllClasses() throws Exception {
    var agent = Path.of("target/agent.jar").toAbsolutePath();

    var printed = Jvm.run(0, List.of("-Xverify:all", "-javaagent:" + agent), Jvm.CLASS_PATH, Program.class);

    var last = printed.substring(printed.lastIndexOf("linked ")).strip();
    assertTrue(Integer.parseInt(last.substring(7)) > 2_000, printed);
    assertFalse(printed.contains("leaves the class"), printed);
  }

  @Test
  void aClassWithoutRedirectedCallsStaysAsItIs() throws IOException {
    var redirects = RedirectTable.of(RedirectTable.ALL_ROWS, Runtime.version().feature());

    assertEquals(null, ClassPatcher.patch(Files.readAllBytes(BASE.resolve("java/lang/Runnable.class")), redirects,
        new ThreadTypes(null)));
  }

  @Test
  void threadsAreKnownByTheirSuperclasses() {
    var ancestry = new ThreadTypes(PatcherTest.class.getClassLoader());

    assertTrue(ancestry.isThread("java/util/concurrent/ForkJoinWorkerThread"));
    assertFalse(ancestry.isThread("java/lang/Process"));
    assertFalse(ancestry.isThread("of/another/World"));
    assertFalse(ancestry.isThread("[Ljava/lang/Thread;"));
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
