package io.fibry.simulation.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;

/** Redirects the calls of classes when they are loaded: all but most of the JDK's. */
final class Transformer implements ClassFileTransformer {
  private static final String OURS = "io/fibry/simulation/";

  private final Redirects redirects;
  /** One for each class loader; guarded by itself. */
  private final Map<ClassLoader, Ancestry> ancestries = new WeakHashMap<>();
  private final Ancestry boot = new Ancestry(null);

  Transformer(Redirects redirects) {
    this.redirects = redirects;
  }

  /** Whether a class is looked at, by its name with slashes. */
  static boolean isChanged(ClassLoader loader, String type) {
    return loader != null ? !type.startsWith("java/") : Redirects.isChanged(type);
  }

  @Override
  public byte[] transform(Module module, ClassLoader loader, String type, Class<?> redefined, ProtectionDomain domain,
      byte[] bytes) {
    if (type == null || !isChanged(loader, type) || isOurs(type, domain)) return null;
    try {
      return Patcher.patch(bytes, redirects, ancestry(loader));
    } catch (RuntimeException unreadable) {
      System.err
          .println("fibry-simulation leaves the class " + type + " as it is, which it cannot read: " + unreadable);
      return null;
    }
  }

  private Ancestry ancestry(ClassLoader loader) {
    if (loader == null) return boot;
    synchronized (ancestries) {
      return ancestries.computeIfAbsent(loader, Ancestry::new);
    }
  }

  /** The simulator's own classes, whose clock is the real one; not tests in the same package. */
  private static boolean isOurs(String type, ProtectionDomain domain) {
    return type.startsWith(OURS) && Objects.equals(source(domain), source(Transformer.class.getProtectionDomain()));
  }

  private static Optional<Object> source(ProtectionDomain domain) {
    return Optional.ofNullable(domain).map(ProtectionDomain::getCodeSource).map(CodeSource::getLocation);
  }
}
