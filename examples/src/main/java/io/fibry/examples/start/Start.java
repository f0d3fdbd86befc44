package io.fibry.examples.start;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Runs an example by its name, or lists all examples, for {@code mvn -Prun}. The jar of the
 * examples has no sources, so with {@code java -jar} there is no list.
 */
class Start {
  private static final Path SOURCES = Path.of("src/main/java/io/fibry/examples");

  public static void main(String[] args) throws Throwable {
    String name = args.length == 0 ? "Tour" : args[0];
    var exampleArgs = Arrays.stream(args).skip(1).filter(arg -> !arg.isEmpty()).toArray(String[]::new);
    if (!Files.isDirectory(SOURCES)) {
      run(name, exampleArgs);
      return;
    }
    var examples = Catalog.of(SOURCES);
    if (examples.has(name)) run(name, exampleArgs);
    else list(examples, name);
  }

  /** Calls main by a method handle, which does not wrap the example's exceptions. */
  private static void run(String example, String[] args) throws Throwable {
    var type = Class.forName("io.fibry.examples." + example);
    MethodHandles.privateLookupIn(type, MethodHandles.lookup())
        .findStatic(type, "main", MethodType.methodType(void.class, String[].class)).invokeExact(args);
  }

  /**
   * Prints the list. For an unknown name it throws nothing, because a later step of the build fails
   * without a stack trace.
   */
  private static void list(Catalog examples, String name) {
    System.out.println(examples.lines() + "\n\nTo run one: mvn -q -Prun -Dexample=Hello");
    if (!name.equals("list")) System.out.println("There is no example '" + name + "'."
        + examples.nearest(name).map(other -> " Did you mean " + other + "?").orElse(""));
  }
}
