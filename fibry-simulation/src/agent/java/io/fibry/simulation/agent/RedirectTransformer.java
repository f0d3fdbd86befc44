package io.fibry.simulation.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;

/**
 * Redirects calls in each class when it is loaded. In the JDK, only the classes that
 * {@link RedirectTable#isChanged} names are changed.
 */
final class RedirectTransformer implements ClassFileTransformer {
  private static final String SIMULATION_PACKAGE = "io/fibry/simulation/";

  private final RedirectTable redirects;
  /** One entry for each class loader but the boot loader; guarded by the map's monitor. */
  private final Map<ClassLoader, ThreadTypes> threadTypes = new WeakHashMap<>();
  private final ThreadTypes bootThreadTypes = new ThreadTypes(null);

  RedirectTransformer(RedirectTable redirects) {
    this.redirects = redirects;
  }

  /** Returns whether calls in a class are redirected. The name of the class has slashes. */
  static boolean isChanged(ClassLoader loader, String type) {
    return loader != null ? !type.startsWith("java/") : RedirectTable.isChanged(type);
  }

  @Override
  public byte[] transform(Module module, ClassLoader loader, String type, Class<?> redefined, ProtectionDomain domain,
      byte[] bytes) {
    if (type == null || !isChanged(loader, type) || isSimulatorClass(type, domain)) return null;
    try {
      return ClassPatcher.patch(bytes, redirects, threadTypes(loader));
    } catch (RuntimeException unreadable) {
      System.err
          .println("fibry-simulation cannot read the class " + type + " and leaves it unchanged: " + unreadable);
      return null;
    }
  }

  private ThreadTypes threadTypes(ClassLoader loader) {
    if (loader == null) return bootThreadTypes;
    synchronized (threadTypes) {
      return threadTypes.computeIfAbsent(loader, ThreadTypes::new);
    }
  }

  /**
   * Returns whether a class belongs to the simulator itself, which uses the real clock. A test in
   * the same package does not belong to it.
   */
  private static boolean isSimulatorClass(String type, ProtectionDomain domain) {
    return type.startsWith(SIMULATION_PACKAGE)
        && Objects.equals(location(domain), location(RedirectTransformer.class.getProtectionDomain()));
  }

  private static Optional<Object> location(ProtectionDomain domain) {
    return Optional.ofNullable(domain).map(ProtectionDomain::getCodeSource).map(CodeSource::getLocation);
  }
}
