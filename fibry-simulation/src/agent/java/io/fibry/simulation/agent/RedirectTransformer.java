package io.fibry.simulation.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;

/** Redirects the calls of classes when they are loaded: all but most of the JDK's. */
final class RedirectTransformer implements ClassFileTransformer {
  private static final String OURS = "io/fibry/simulation/";

  private final RedirectTable redirects;
  /** One for each class loader; guarded by itself. */
  private final Map<ClassLoader, ThreadTypes> ancestries = new WeakHashMap<>();
  private final ThreadTypes boot = new ThreadTypes(null);

  RedirectTransformer(RedirectTable redirects) {
    this.redirects = redirects;
  }

  /** Whether a class is looked at, by its name with slashes. */
  static boolean isChanged(ClassLoader loader, String type) {
    return loader != null ? !type.startsWith("java/") : RedirectTable.isChanged(type);
  }

  @Override
  public byte[] transform(Module module, ClassLoader loader, String type, Class<?> redefined, ProtectionDomain domain,
      byte[] bytes) {
    if (type == null || !isChanged(loader, type) || isSimulatorClass(type, domain)) return null;
    try {
      return ClassPatcher.patch(bytes, redirects, ancestry(loader));
    } catch (RuntimeException unreadable) {
      System.err
          .println("fibry-simulation leaves the class " + type + " as it is, which it cannot read: " + unreadable);
      return null;
    }
  }

  private ThreadTypes ancestry(ClassLoader loader) {
    if (loader == null) return boot;
    synchronized (ancestries) {
      return ancestries.computeIfAbsent(loader, ThreadTypes::new);
    }
  }

  /** The simulator's own classes, whose clock is the real one; not tests in the same package. */
  private static boolean isSimulatorClass(String type, ProtectionDomain domain) {
    return type.startsWith(OURS)
        && Objects.equals(source(domain), source(RedirectTransformer.class.getProtectionDomain()));
  }

  private static Optional<Object> source(ProtectionDomain domain) {
    return Optional.ofNullable(domain).map(ProtectionDomain::getCodeSource).map(CodeSource::getLocation);
  }
}
