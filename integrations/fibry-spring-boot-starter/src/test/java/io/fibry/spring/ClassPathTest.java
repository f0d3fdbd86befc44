package io.fibry.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An application has some libraries and not others: it starts, and has what it can have. The jars
 * are really not there; a filter before the loader would leave them to reflection.
 */
@Timeout(60)
class ClassPathTest {

  @ParameterizedTest(name = "without {0}")
  @CsvSource({
    "nothing, actors carriers endpoint health tasks",
    "actuat|spring-boot-health, actors carriers tasks",
    "actuat|spring-boot-health|micrometer|context-propagation|webmvc|tomcat|servlet|spring-web, actors tasks"
  })
  void itHasWhatItCanHave(String absent, String present) throws Exception {
    var loader = without(absent);
    var thread = Thread.currentThread();
    var before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try (loader) {
      @SuppressWarnings("unchecked") // of the JDK's own, or it would be another class there
      var application =
          (Supplier<String>) loader.loadClass("io.fibry.spring.Application").getConstructor().newInstance();

      assertEquals(present, application.get());
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URLClassLoader without(String absent) {
    var jars = Stream.of(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")).split(File.pathSeparator))
        .map(Path::of);
    var urls = jars.filter(jar -> Stream.of(absent.split("\\|")).noneMatch(jar.getFileName().toString()::contains))
        .map(ClassPathTest::url).toArray(URL[]::new);
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (MalformedURLException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
