package io.fibry.yieldpoint;

import static org.objectweb.asm.Opcodes.ACC_PRIVATE;
import static org.objectweb.asm.Opcodes.ACC_STATIC;
import static org.objectweb.asm.Opcodes.ACC_SYNCHRONIZED;
import static org.objectweb.asm.Opcodes.ACONST_NULL;
import static org.objectweb.asm.Opcodes.ALOAD;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.ATHROW;
import static org.objectweb.asm.Opcodes.F_FULL;
import static org.objectweb.asm.Opcodes.ILOAD;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.INVOKEVIRTUAL;
import static org.objectweb.asm.Opcodes.IRETURN;
import static org.objectweb.asm.Opcodes.MONITORENTER;
import static org.objectweb.asm.Opcodes.NEW;
import static org.objectweb.asm.Opcodes.POP;
import static org.objectweb.asm.Opcodes.RETURN;

import io.fibry.simulation.YieldPoints;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * Inserts a yield point into a class before each use of data that other threads may change: a
 * mutable field, a class of java.util.concurrent, a {@code VarHandle}, a monitor. The static
 * initializer gets no yield points, and suppresses the yield points of the calls in it.
 *
 * <p>A seed must give the same run each time, whenever the garbage collector runs. If the collector
 * cleared a reference, the code would pass other yield points. So in a changed class weak
 * references are strong, also if the class extends them, a weak map is an ordinary map, and a queue
 * of cleared references is empty.
 */
final class YieldPointInserter extends ClassVisitor {
  private static final String YIELD_POINTS_CLASS = Type.getInternalName(YieldPoints.class);
  private static final String CONSTRUCTOR = "<init>";
  /** Classes that the garbage collector affects, and the classes that are used in their place. */
  private static final Map<String, String> REPLACEMENTS = Map.of(
      Type.getInternalName(WeakReference.class), Type.getInternalName(StrongReference.class),
      Type.getInternalName(WeakHashMap.class), Type.getInternalName(LinkedHashMap.class));
  private static final String REFERENCE_QUEUE = Type.getInternalName(ReferenceQueue.class);

  private String className;

  private YieldPointInserter(ClassVisitor writer) {
    super(ASM9, writer);
  }

  static byte[] of(byte[] bytes) {
    var reader = new ClassReader(bytes);
    var writer = new ClassWriter(reader, 0);
    reader.accept(new YieldPointInserter(writer), 0);
    return writer.toByteArray();
  }

  private static void call(MethodVisitor code, String method) {
    code.visitMethodInsn(INVOKESTATIC, YIELD_POINTS_CLASS, method, "()V", false);
  }

  @Override
  public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
    this.className = name;
    super.visit(version, access, name, signature, REPLACEMENTS.getOrDefault(superName, superName), interfaces);
  }

  @Override
  public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
      String[] exceptions) {
    if (method.equals("<clinit>"))
      return new Initializer(super.visitMethod(access, method, descriptor, signature, exceptions));
    boolean isSynchronized = (access & ACC_SYNCHRONIZED) != 0;
    if (isSynchronized)
      writeEntry(super.visitMethod(access - ACC_SYNCHRONIZED, method, descriptor, signature, exceptions), access,
          method, descriptor);
    return new PointsWriter(isSynchronized
        ? super.visitMethod(access & ACC_STATIC | ACC_SYNCHRONIZED | ACC_PRIVATE, bodyName(method), descriptor,
            signature, exceptions)
        : super.visitMethod(access, method, descriptor, signature, exceptions), method.equals(CONSTRUCTOR));
  }

  /**
   * Writes a method without the monitor: it passes a yield point, and calls another method, which
   * has the monitor and the code.
   */
  private void writeEntry(MethodVisitor code, int access, String method, String descriptor) {
    boolean isStatic = (access & ACC_STATIC) != 0;
    code.visitCode();
    call(code, "pass");
    int slot = 0;
    if (!isStatic) code.visitVarInsn(ALOAD, slot++);
    for (var argument : Type.getArgumentTypes(descriptor)) {
      code.visitVarInsn(argument.getOpcode(ILOAD), slot);
      slot += argument.getSize();
    }
    code.visitMethodInsn(isStatic ? INVOKESTATIC : INVOKEVIRTUAL, className, bodyName(method), descriptor, false);
    code.visitInsn(Type.getReturnType(descriptor).getOpcode(IRETURN));
    code.visitMaxs(Math.max(2, slot), slot);
    code.visitEnd();
  }

  private static String bodyName(String method) {
    return method + "$inside";
  }

  private final class PointsWriter extends MethodVisitor {
    private final boolean isConstructor;

    PointsWriter(MethodVisitor writer, boolean isConstructor) {
      super(ASM9, writer);
      this.isConstructor = isConstructor;
    }

    /**
     * A constructor gets no yield points for fields of its own class. Most belong to the object
     * that is being constructed, to which no other thread has access.
     */
    @Override
    public void visitFieldInsn(int instruction, String owner, String field, String descriptor) {
      if (!(isConstructor && owner.equals(className)) && FinalFields.mayChange(owner, field)) call(mv, "pass");
      super.visitFieldInsn(instruction, owner, field, descriptor);
    }

    @Override
    public void visitTypeInsn(int instruction, String type) {
      super.visitTypeInsn(instruction, instruction == NEW ? REPLACEMENTS.getOrDefault(type, type) : type);
    }

    @Override
    public void visitMethodInsn(int instruction, String owner, String method, String descriptor, boolean isInterface) {
      if (owner.equals(REFERENCE_QUEUE) && method.equals("poll")) {
        super.visitInsn(POP);
        super.visitInsn(ACONST_NULL);
        return;
      }
      if (method.equals(CONSTRUCTOR) && REPLACEMENTS.containsKey(owner)) {
        super.visitMethodInsn(instruction, REPLACEMENTS.get(owner), method, descriptor, isInterface);
        return;
      }
      boolean isShared = owner.startsWith("java/util/concurrent/") || owner.equals("java/lang/invoke/VarHandle");
      if (isShared && !method.equals(CONSTRUCTOR)) call(mv, "pass");
      super.visitMethodInsn(instruction, owner, method, descriptor, isInterface);
    }

    @Override
    public void visitInsn(int instruction) {
      if (instruction == MONITORENTER) call(mv, "pass");
      super.visitInsn(instruction);
    }
  }

  /** Reports the begin and the end of the initializer, even if it throws. */
  private static final class Initializer extends MethodVisitor {
    private final Label begin = new Label();
    private final Label end = new Label();

    Initializer(MethodVisitor writer) {
      super(ASM9, writer);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      call(mv, "beginInitializer");
      visitLabel(begin);
    }

    @Override
    public void visitInsn(int instruction) {
      if (instruction == RETURN) call(mv, "endInitializer");
      super.visitInsn(instruction);
    }

    @Override
    public void visitMaxs(int stack, int locals) {
      visitLabel(end);
      visitTryCatchBlock(begin, end, end, null);
      visitFrame(F_FULL, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
      call(mv, "endInitializer");
      super.visitInsn(ATHROW);
      super.visitMaxs(Math.max(1, stack), locals);
    }
  }
}
