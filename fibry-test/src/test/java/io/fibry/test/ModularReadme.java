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
 * The README of a module is true: its code is run by the tests, its program also as a module that
 * requires ours.
 */
public abstract class ModularReadme {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");
  private static final Pattern NOT_THEIRS =
      Pattern.compile("test-classes|junit|fibry-test|simple|jspecify|opentest|apiguardian");

  @TempDir
  Path folder;

  private final String tested; // the package of the tests, and the name of our module
  private final String program; // its class
  private final String module; // that it is here
  private final int blocks;
  private final String more;

  /**
   * About a module.
   *
   * @param tested its name, and that of the package of its tests
   * @param program the class of its README
   * @param blocks that the README has
   * @param more lines of the program's module
   */
  protected ModularReadme(String tested, String program, int blocks, String more) {
    this.tested = tested;
    this.program = program;
    this.module = program.toLowerCase(Locale.ROOT);
    this.blocks = blocks;
    this.more = more;
  }

  private String source(String type) throws Exception {
    return Files.readString(Path.of("src/test/java", tested.split("\\.")).resolve(type + ".java"));
  }

  @Test
  void readmeCodeIsRunByTest() throws Exception {
    var run = unindented(source(program) + source("JavadocSnippetsTest"));
    var shown = BLOCK.matcher(Files.readString(Path.of("README.md"))).results().map(found -> found.group(1)).toList();

    assertEquals(blocks, shown.size());
    assertEquals(List.of(), shown.stream().filter(block -> !run.contains(unindented(block))).toList());
  }

  private static String unindented(String code) {
    return code.replaceAll("(?m)^ +", "");
  }

  @Test
  void readmeProgramRunsAsModule() throws Exception {
    Files.writeString(folder.resolve("module-info.java"),
        "module " + module + " {\n  requires " + tested + ";\n  exports " + module + ";\n" + more + "}\n");
    Files.writeString(folder.resolve(program + ".java"),
        source(program).replace("package " + tested + ";", "package " + module + ";\nimport " + tested + ".*;")
            .replace("{@link ReadmeTest}", "").replace("\nclass " + program, "\npublic class " + program));

    javac("--release", "21", "-Xlint:all,-missing-explicit-ctor", "-Werror", "--module-path", modulePath(), "-d",
        folder.toString(),
        folder.resolve("module-info.java").toString(), folder.resolve(program + ".java").toString());

    assertEquals(PRINTS.matcher(source(program)).results().map(found -> found.group(1)).toList(), printed());
  }

  /** What a user has: not our tests, nor what only they need. */
  private static String modulePath() {
    var all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return String.join(File.pathSeparator, Stream.of(all.split(File.pathSeparator))
        .filter(part -> !NOT_THEIRS.matcher(Path.of(part).getFileName().toString()).find()).distinct().toList());
  }

  private static void javac(String... arguments) {
    var tool = ToolProvider.findFirst("javac");
    assumeTrue(tool.isPresent(), "no javac in this Java runtime");
    var said = new StringWriter();
    int exit;
    try (var out = new PrintWriter(said)) {
      exit = tool.get().run(out, out, arguments);
    }
    assertEquals(0, exit, said::toString);
  }

  /** The lines that the program prints, in a layer of modules of its own. */
  private List<String> printed() throws Exception {
    var paths = Stream.concat(Stream.of(folder), Stream.of(modulePath().split(File.pathSeparator)).map(Path::of))
        .toArray(Path[]::new);
    var boot = ModuleLayer.boot();
    var modules = boot.configuration().resolve(ModuleFinder.of(paths), ModuleFinder.of(), Set.of(module));
    var layer = boot.defineModulesWithOneLoader(modules, ClassLoader.getPlatformClassLoader());
    var main = layer.findLoader(module).loadClass(module + "." + program).getMethod("main", String[].class);
    var before = System.out;
    var printed = new ByteArrayOutputStream();
    try (var out = new PrintStream(printed, true, UTF_8)) {
      System.setOut(out);
      main.invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(before);
    }
    return printed.toString(UTF_8).lines().toList();
  }
}
