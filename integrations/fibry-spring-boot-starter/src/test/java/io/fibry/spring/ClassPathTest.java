package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that an application starts without optional libraries, and has the features of the present
 * libraries. The jars are really absent, because a filtering class loader would leave them visible
 * to reflection. NATS adds no feature to this list; NodeTest runs with all libraries.
 */
class ClassPathTest {

  @ParameterizedTest(name = "without {0}")
  @CsvSource({
    "fibry-nats|jnats, actors carriers endpoint health health-of-a-node health-of-stores node store tasks",
    "fibry-cluster|fibry-nats|jnats, actors carriers endpoint health health-of-stores store tasks",
    "fibry-durable|fibry-cluster|fibry-nats|jnats, actors carriers endpoint health tasks",
    "actuat|spring-boot-health, actors carriers node store tasks",
    "actuat|spring-boot-health|micrometer-core|micrometer-observation|micrometer-commons|micrometer-jakarta9|"
        + "context-propagation|webmvc|tomcat|servlet|spring-web, actors node store tasks",
    "fibry-durable|fibry-cluster|fibry-nats|jnats|actuat|spring-boot-health|micrometer-core|micrometer-observation|micrometer-commons|"
        + "micrometer-jakarta9|context-propagation|webmvc|tomcat|servlet|spring-web, actors tasks"
  })
  void absentLibraryDisablesOnlyItsFeatures(String absent, String features, @TempDir Path folder) throws Exception {
    var loader = loaderWithout(absent);
    var thread = Thread.currentThread();
    var oldLoader = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try (loader) {
      @SuppressWarnings("unchecked") // the JDK's class, which both loaders share
      var application =
          (UnaryOperator<String>) loader.loadClass("io.fibry.spring.Application").getConstructor().newInstance();

      assertEquals(features, application.apply(folder.toString()));
    } finally {
      thread.setContextClassLoader(oldLoader);
    }
  }

  private static URLClassLoader loaderWithout(String absent) {
    var jars = Stream.of(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")).split(File.pathSeparator))
        .map(Path::of);
    var urls = jars.filter(jar -> Stream.of(absent.split("\\|")).noneMatch(name(jar)::contains))
        .map(ClassPathTest::url).toArray(URL[]::new);
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  /** Returns the name of the jar; for {@code target/classes}, the name of the module's folder. */
  private static String name(Path jar) {
    return (jar.endsWith(Path.of("target", "classes")) ? jar.getParent().getParent() : jar).getFileName().toString();
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (MalformedURLException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
