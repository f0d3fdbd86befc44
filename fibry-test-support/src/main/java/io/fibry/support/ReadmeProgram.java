package io.fibry.support;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** Runs the program of a README as a module of a user, which requires the tested module. */
public final class ReadmeProgram {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
  private static final Pattern PRINTS = Pattern.compile("// prints (.*)");

  private ReadmeProgram() {}

  /** Returns the blocks of Java in a document. */
  public static List<String> javaBlocks(String document) {
    return BLOCK.matcher(document).results().map(match -> match.group(1)).toList();
  }

  public static String withoutIndents(String code) {
    return code.replaceAll("(?m)^ +", "");
  }

  /** Returns the lines that a program prints according to its comments. */
  public static List<String> promisedLines(String program) {
    return PRINTS.matcher(program).results().map(match -> match.group(1)).toList();
  }

  /**
   * Compiles the class {@code Shop} of the tested module's tests as a module, without warnings, and
   * runs it in a JVM of its own.
   *
   * @param folder an empty folder for the sources and classes
   * @param testedModule the module that the program requires, and the package of its tests
   * @param notOfUsers matches the names of tests, test libraries and optional libraries, which are
   * not on the module path
   * @return the lines that the program prints
   */
  public static List<String> runShop(Path folder, String testedModule, Pattern notOfUsers) throws IOException {
    var descriptor = Files.writeString(folder.resolve("module-info.java"),
        "module shop {\n  requires " + testedModule + ";\n}\n");
    var program = Files.writeString(folder.resolve("Shop.java"), shopOf(testedModule)
        .replace("package " + testedModule + ";", "package shop;\nimport " + testedModule + ".*;")
        .replace("{@link ReadmeTest}", ""));
    var modulePath = modulePath(notOfUsers);
    javac("--release", "21", "-Xlint:all,-requires-automatic", "-Werror", "--module-path", modulePath, "-d",
        folder.toString(), descriptor.toString(), program.toString());

    try (var child = Child.java(
        List.of("--module-path", folder + File.pathSeparator + modulePath, "--module", "shop/shop.Shop"))) {
      return child.awaitExit(0).lines().toList();
    }
  }

  /** Returns the source of the class {@code Shop}. */
  public static String shopOf(String testedModule) throws IOException {
    return Files.readString(Path.of("src/test/java", testedModule.split("\\.")).resolve("Shop.java"));
  }

  private static String modulePath(Pattern notOfUsers) {
    var classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return String.join(File.pathSeparator, Stream.of(classPath.split(File.pathSeparator))
        .filter(part -> !notOfUsers.matcher(nameOf(Path.of(part))).find()).distinct().sorted().toList());
  }

  /** Returns the name of a jar, or of a module of this build and its folder of classes. */
  private static String nameOf(Path part) {
    return part.endsWith("classes") || part.endsWith("test-classes")
        ? part.getParent().getParent().getFileName() + "/" + part.getFileName() : part.getFileName().toString();
  }

  private static void javac(String... arguments) {
    var output = new StringWriter();
    try (var writer = new PrintWriter(output)) {
      int exit = ToolProvider.findFirst("javac").orElseThrow().run(writer, writer, arguments);
      if (exit != 0) throw new AssertionError("javac ended with " + exit + ":\n" + output);
    }
  }
}
