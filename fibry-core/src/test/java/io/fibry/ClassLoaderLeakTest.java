package io.fibry;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Code of actors whose class loader is discarded, as by an application server. */
class ClassLoaderLeakTest {

  /**
   * A whole program: objects that the library makes at first use must not refer to the first user's
   * loader.
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
    // warms up the pool: its threads may remember their creator
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

  /** Loads the plugin itself, and the library from its parent. */
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
