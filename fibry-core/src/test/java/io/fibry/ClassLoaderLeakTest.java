package io.fibry;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Actors whose code comes from a class loader that is thrown away: in an application server, a
 * plugin, a test.
 */
@Timeout(60)
class ClassLoaderLeakTest {

  /**
   * The same as a whole program: what the library makes at its first use must not remember whose
   * that was.
   */
  static final class First {
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
  void aLoaderIsCollectedWhenItsActorsHaveEnded(Variants.Variant variant) throws Exception {
    // a pool's threads are its owner's: they may remember who made them
    for (int i = 0; i < 2; i++) variant.strategy().activate(() -> {});
    var loader = new WeakReference<>(runPlugin(variant));

    assertTrue(LeakProbe.collected(loader));
  }

  private static ClassLoader runPlugin(Variants.Variant variant) throws Exception {
    try (var loader = new Child()) {
      var type = loader.loadClass(LeakPlugin.class.getName());
      assertNotSame(LeakPlugin.class, type);
      var before = Thread.currentThread().getContextClassLoader();
      Thread.currentThread().setContextClassLoader(loader);
      ((Runnable) type.getConstructor(ActorBuilder.class).newInstance(variant.builder(Variants.scope(o -> o)))).run();
      Thread.currentThread().setContextClassLoader(before);
      return loader;
    }
  }

  /** Loads the plugin itself, and takes the library from its parent. */
  private static final class Child extends URLClassLoader {
    Child() {
      super(new URL[] {LeakPlugin.class.getProtectionDomain().getCodeSource().getLocation()},
          LeakPlugin.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        if (!name.startsWith(LeakPlugin.class.getName())) return super.loadClass(name, resolve);
        var loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
    }
  }
}
