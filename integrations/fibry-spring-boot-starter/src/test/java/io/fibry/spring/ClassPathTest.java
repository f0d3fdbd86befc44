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
 * An application starts without optional libraries, and has the features of those it has. The jars
 * are really absent; a filtering class loader would leave them visible to reflection. With NATS
 * there are the same features as without it: NodeTest has all libraries.
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
  void absentLibrariesDisableTheirFeaturesOnly(String absent, String present, @TempDir Path folder) throws Exception {
    var loader = without(absent);
    var thread = Thread.currentThread();
    var before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try (loader) {
      @SuppressWarnings("unchecked") // the JDK's class, which both loaders share
      var application =
          (UnaryOperator<String>) loader.loadClass("io.fibry.spring.Application").getConstructor().newInstance();

      assertEquals(present, application.apply(folder.toString()));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URLClassLoader without(String absent) {
    var jars = Stream.of(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")).split(File.pathSeparator))
        .map(Path::of);
    var urls = jars.filter(jar -> Stream.of(absent.split("\\|")).noneMatch(name(jar)::contains))
        .map(ClassPathTest::url).toArray(URL[]::new);
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  /** Returns the name of a jar, or of the module to which these classes belong. */
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
