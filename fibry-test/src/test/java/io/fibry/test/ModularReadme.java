package io.fibry.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the README of a module is true. The module's tests must contain the code of the
 * README, and its program must also run as a module that requires the tested module.
 */
public abstract class ModularReadme {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
  private static final Pattern TEST_LIBRARIES =
      Pattern.compile("test-classes|junit|fibry-test|simple|jspecify|opentest|apiguardian");

  @TempDir
  Path folder;

  private final String testedModule; // also the package of its tests
  private final String programClass; // the class of the README's program
  private final String module; // the module of the program
  private final int blockCount;
  private final String moduleLines;

  /**
   * Creates the tests of a module's README.
   *
   * @param testedModule the name of the module and of the package of its tests
   * @param programClass the class of the README's program
   * @param blockCount how many blocks of Java the README has
   * @param moduleLines further lines for the module descriptor of the program
   */
  protected ModularReadme(String testedModule, String programClass, int blockCount, String moduleLines) {
    this.testedModule = testedModule;
    this.programClass = programClass;
    this.module = programClass.toLowerCase(Locale.ROOT);
    this.blockCount = blockCount;
    this.moduleLines = moduleLines;
  }

  private String source(String type) throws Exception {
    return Files.readString(Path.of("src/test/java", testedModule.split("\\.")).resolve(type + ".java"));
  }

  @Test
  void readmeShowsCodeOfTests() throws Exception {
    var run = unindented(source(programClass) + source("JavadocSnippetsTest"));
    var blocks = BLOCK.matcher(Files.readString(Path.of("README.md"))).results().map(match -> match.group(1)).toList();

    assertEquals(blockCount, blocks.size());
    assertEquals(List.of(), blocks.stream().filter(block -> !run.contains(unindented(block))).toList());
  }

  private static String unindented(String code) {
    return code.replaceAll("(?m)^ +", "");
  }

  @Test
  void readmeProgramRunsAsModule() throws Exception {
    Files.writeString(folder.resolve("module-info.java"),
        "module " + module + " {\n  requires " + testedModule + ";\n  exports " + module + ";\n" + moduleLines + "}\n");
    Files.writeString(folder.resolve(programClass + ".java"),
        source(programClass)
            .replace("package " + testedModule + ";", "package " + module + ";\nimport " + testedModule + ".*;")
            .replace("{@link ReadmeTest}", "").replace("\nclass " + programClass, "\npublic class " + programClass));

    javac("--release", "21", "-Xlint:all,-missing-explicit-ctor", "-Werror", "--module-path", modulePath(), "-d",
        folder.toString(),
        folder.resolve("module-info.java").toString(), folder.resolve(programClass + ".java").toString());

    assertEquals(PRINTS.matcher(source(programClass)).results().map(match -> match.group(1)).toList(), runProgram());
  }

  /**
   * Returns the module path of a user, which has neither the tests of this module nor the libraries
   * for tests.
   */
  private static String modulePath() {
    var classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return String.join(File.pathSeparator, Stream.of(classPath.split(File.pathSeparator))
        .filter(part -> !TEST_LIBRARIES.matcher(Path.of(part).getFileName().toString()).find()).distinct().toList());
  }

  private static void javac(String... arguments) {
    var tool = ToolProvider.findFirst("javac");
    assumeTrue(tool.isPresent(), "no javac in this Java runtime");
    var output = new StringWriter();
    int exit;
    try (var out = new PrintWriter(output)) {
      exit = tool.get().run(out, out, arguments);
    }
    assertEquals(0, exit, output::toString);
  }

  /** Runs the program in its own module layer, and returns the lines that it prints. */
  private List<String> runProgram() throws Exception {
    var paths = Stream.concat(Stream.of(folder), Stream.of(modulePath().split(File.pathSeparator)).map(Path::of))
        .toArray(Path[]::new);
    var boot = ModuleLayer.boot();
    var modules = boot.configuration().resolve(ModuleFinder.of(paths), ModuleFinder.of(), Set.of(module));
    var layer = boot.defineModulesWithOneLoader(modules, ClassLoader.getPlatformClassLoader());
    var main = layer.findLoader(module).loadClass(module + "." + programClass).getMethod("main", String[].class);
    var oldOut = System.out;
    var output = new ByteArrayOutputStream();
    try (var out = new PrintStream(output, true, UTF_8)) {
      System.setOut(out);
      main.invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(oldOut);
    }
    return output.toString(UTF_8).lines().toList();
  }
}
