package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Variants;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests actors whose class loader is discarded, as in an application server. */
class ClassLoaderLeakTest {

  /**
   * A program that {@link JvmExitTest} runs in its own JVM, where the plugin is the first user of
   * the library. The objects that the library creates at its first use must not refer to the class
   * loader of that user.
   */
  static final class FirstUserMain {
    public static void main(String[] args) throws Exception {
      System.out.println(
          "collected: " + LeakProbe.collected(new WeakReference<>(runPlugin(variants().findFirst().orElseThrow()))));
    }
  }

  static Stream<Variants.Variant> variants() {
    return Variants.strategiesAlone();
  }

  @ParameterizedTest
  @MethodSource("variants")
  void classLoaderIsCollectedWhenItsActorsHaveEnded(Variants.Variant variant) throws Exception {
    // starts the threads of the pool before the plugin runs, because a new thread may refer to the
    // class loader of the thread that creates it
    for (int i = 0; i < 2; i++) variant.strategy().activate(() -> {});
    var loader = new WeakReference<>(runPlugin(variant));

    assertTrue(LeakProbe.collected(loader));
  }

  private static ClassLoader runPlugin(Variants.Variant variant) throws Exception {
    try (var loader = new PluginLoader()) {
      var type = loader.loadClass(LeakPlugin.class.getName());
      assertNotSame(LeakPlugin.class, type);
      var oldLoader = Thread.currentThread().getContextClassLoader();
      Thread.currentThread().setContextClassLoader(loader);
      ((Runnable) type.getConstructor(ActorBuilder.class).newInstance(variant.builder(Variants.scope(o -> o)))).run();
      Thread.currentThread().setContextClassLoader(oldLoader);
      return loader;
    }
  }

  /** Loads the classes of the plugin itself. Its parent loads all other classes. */
  private static final class PluginLoader extends URLClassLoader {
    PluginLoader() {
      super(new URL[] {LeakPlugin.class.getProtectionDomain().getCodeSource().getLocation()},
          LeakPlugin.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        if (!name.startsWith(LeakPlugin.class.getName())) return super.loadClass(name, resolve);
        var loadedClass = findLoadedClass(name);
        return loadedClass != null ? loadedClass : findClass(name);
      }
    }
  }
}
