package io.fibry.yieldpoint;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Finds out from class files which fields may change. Classes cannot be inspected otherwise,
 * because this code is called while they are loaded.
 */
final class FinalFields extends ClassVisitor {
  private static final Map<String, Optional<FinalFields>> CACHE = new ConcurrentHashMap<>();

  private final Map<String, Boolean> finals = new HashMap<>();
  private String superName;

  private FinalFields() {
    super(Opcodes.ASM9);
  }

  /** Returns whether a field is not final; returns false for fields of the JDK. */
  static boolean mayChange(String owner, String field) {
    for (var type = of(owner); type.isPresent(); type = of(type.get().superName)) {
      var isFinal = type.get().finals.get(field);
      if (isFinal != null) return !isFinal;
    }
    return false;
  }

  private static Optional<FinalFields> of(String type) {
    return type.startsWith("java/") ? Optional.empty() : CACHE.computeIfAbsent(type, FinalFields::read);
  }

  private static Optional<FinalFields> read(String type) {
    try (var file = ClassLoader.getSystemResourceAsStream(type + ".class")) {
      if (file == null) return Optional.empty();
      var fields = new FinalFields();
      new ClassReader(file).accept(fields, ClassReader.SKIP_CODE);
      return Optional.of(fields);
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  @Override
  public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
    this.superName = superName;
  }

  @Override
  public FieldVisitor visitField(int access, String name, String type, String signature, Object value) {
    finals.put(name, (access & Opcodes.ACC_FINAL) != 0);
    return null;
  }
}
