package io.fibry.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Patience;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.eclipse.jdt.core.compiler.batch.BatchCompiler;
import org.junit.jupiter.api.Assumptions;

/**
 * Compiles and runs programs as a user would: against the public API, in a class loader with a
 * library of its own, so that programs do not share names and options.
 */
final class Programs {
  private static final String CLASS_PATH = System.getProperty("java.class.path");
  private static final Pattern PROBLEM = Pattern.compile("^/(.*)\\.java:\\d+: (?:error|warning): ");

  private Programs() {}

  /**
   * Returns the errors and warnings of javac for each of the sources; an empty text if there are
   * none. All are compiled at once, each by its name; an error in one leaves the others as they
   * are. Skips the test without javac (a JRE).
   */
  static Map<String, String> javac(Path out, Map<String, String> sources) throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    Assumptions.assumeTrue(compiler != null, "no javac in this Java runtime");
    var output = new StringWriter();
    var options = List.of("--release", "21", "-Xlint:all", "-Werror", "-proc:none", "-Xmaxerrs", "1000", "-Xmaxwarns",
        "1000", "-XDshould-stop.ifError=FLOW", "-cp", library(), "-d", out.toString());
    boolean isClean;
    try (var files = compiler.getStandardFileManager(null, Locale.ENGLISH, StandardCharsets.UTF_8)) {
      var units = sources.entrySet().stream().map(source -> new Source(source.getKey(), source.getValue())).toList();
      var task = compiler.getTask(output, files, null, options, null, units);
      task.setLocale(Locale.ENGLISH);
      isClean = task.call();
    }
    var said = new TreeMap<String, String>();
    sources.keySet().forEach(name -> said.put(name, ""));
    for (var problem : output.toString().split("(?m)^(?=/)")) {
      var found = PROBLEM.matcher(problem);
      if (found.find()) said.merge(found.group(1), problem, String::concat);
    }
    assertEquals(isClean, said.values().stream().allMatch(String::isEmpty), output::toString);
    return said;
  }

  /** The errors of the Eclipse compiler, or an empty text. Needs no JDK. */
  static String ecj(Path out, Path... sources) {
    var said = new StringWriter();
    // a JRE does not know other releases
    var release = Runtime.version().feature() == 21 ? List.of("-21") : List.of("--release", "21");
    var options = new ArrayList<>(release);
    options.addAll(List.of("-nowarn", "-proc:none", "-encoding", "UTF-8", "-cp", library(), "-d", out.toString()));
    Arrays.stream(sources).map(Path::toString).forEach(options::add);
    boolean content =
        BatchCompiler.compile(options.toArray(String[]::new), new PrintWriter(said), new PrintWriter(said), null);
    return content ? "" : "errors:\n" + said;
  }

  /** Runs its main method. Returns the printed lines as soon as they are as wanted. */
  static List<String> run(Path classes, String main, Predicate<List<String>> wanted) throws Exception {
    var printed = new ByteArrayOutputStream();
    // Open, because its timers continue
    var loader = new URLClassLoader(urls(classes), ClassLoader.getPlatformClassLoader());
    Outputs.redirect(loader, printed, Outputs.ERR);
    var ended = new CompletableFuture<Void>();
    var method = mainOf(loader.loadClass(main));
    var thread = Thread.ofPlatform().daemon().name("main of " + main).unstarted(() -> call(method, ended));
    thread.setContextClassLoader(loader);
    thread.start();
    try {
      Patience.value(ended);
      // an actor may still print
      Patience.progress("other lines were wanted", printed::size, () -> wanted.test(lines(printed)));
    } catch (AssertionError failed) {
      throw new AssertionError(failed.getMessage() + "\n" + main + " has printed " + lines(printed), failed);
    }
    return lines(printed);
  }

  private static Method mainOf(Class<?> type) throws NoSuchMethodException {
    var method = type.getDeclaredMethod("main", String[].class);
    method.setAccessible(true);
    return method;
  }

  private static void call(Method method, CompletableFuture<Void> ended) {
    try {
      method.invoke(null, (Object) new String[0]);
      ended.complete(null);
    } catch (InvocationTargetException thrown) {
      ended.completeExceptionally(thrown.getCause());
    } catch (ReflectiveOperationException | RuntimeException failure) {
      ended.completeExceptionally(failure);
    }
  }

  private static List<String> lines(ByteArrayOutputStream printed) {
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /** The class path without the test classes. */
  static String library() {
    var parts =
        Arrays.stream(CLASS_PATH.split(java.io.File.pathSeparator)).filter(part -> !part.contains("test-classes"));
    return String.join(java.io.File.pathSeparator, parts.toList());
  }

  private static URL[] urls(Path classes) throws Exception {
    var urls = new ArrayList<>(List.of(classes.toUri().toURL()));
    for (var part : library().split(java.io.File.pathSeparator)) urls.add(Path.of(part).toUri().toURL());
    return urls.toArray(URL[]::new);
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
