package io.fibry.yieldpoint;

import static org.objectweb.asm.Opcodes.ACC_PRIVATE;
import static org.objectweb.asm.Opcodes.ACC_STATIC;
import static org.objectweb.asm.Opcodes.ACC_SYNCHRONIZED;
import static org.objectweb.asm.Opcodes.ALOAD;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.ATHROW;
import static org.objectweb.asm.Opcodes.F_FULL;
import static org.objectweb.asm.Opcodes.ILOAD;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.INVOKEVIRTUAL;
import static org.objectweb.asm.Opcodes.IRETURN;
import static org.objectweb.asm.Opcodes.MONITORENTER;
import static org.objectweb.asm.Opcodes.RETURN;

import io.fibry.simulation.YieldPoints;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;

/**
 * A class with a fine point before each use of a thing that other threads may change: a field that
 * is not final, a class of java.util.concurrent, a {@code VarHandle}, a monitor. Its static
 * initializer has no fine points, and suppresses those of the calls in it.
 */
final class YieldPointInserter extends ClassVisitor {
  private static final String POINTS = Type.getInternalName(YieldPoints.class);
  private static final String CONSTRUCTOR = "<init>";

  private String name;

  private YieldPointInserter(ClassVisitor writer) {
    super(ASM9, writer);
  }

  static byte[] of(byte[] type) {
    var reader = new ClassReader(type);
    var writer = new ClassWriter(reader, 0);
    reader.accept(new YieldPointInserter(writer), 0);
    return writer.toByteArray();
  }

  private static void call(MethodVisitor code, String method) {
    code.visitMethodInsn(INVOKESTATIC, POINTS, method, "()V", false);
  }

  @Override
  public void visit(int version, int access, String name, String signature, String above, String[] interfaces) {
    this.name = name;
    super.visit(version, access, name, signature, above, interfaces);
  }

  @Override
  public MethodVisitor visitMethod(int access, String method, String type, String signature, String[] thrown) {
    if (method.equals("<clinit>"))
      return new Initializer(super.visitMethod(access, method, type, signature, thrown));
    boolean locks = (access & ACC_SYNCHRONIZED) != 0;
    if (locks)
      enter(super.visitMethod(access - ACC_SYNCHRONIZED, method, type, signature, thrown), access, method, type);
    return new Points(locks
        ? super.visitMethod(access & ACC_STATIC | ACC_SYNCHRONIZED | ACC_PRIVATE, inside(method), type, signature,
            thrown)
        : super.visitMethod(access, method, type, signature, thrown), method.equals(CONSTRUCTOR));
  }

  /** A method that takes the monitor when it is called: its code is in another, behind a point. */
  private void enter(MethodVisitor code, int access, String method, String type) {
    boolean isStatic = (access & ACC_STATIC) != 0;
    code.visitCode();
    call(code, "pass");
    int at = 0;
    if (!isStatic) code.visitVarInsn(ALOAD, at++);
    for (var argument : Type.getArgumentTypes(type)) {
      code.visitVarInsn(argument.getOpcode(ILOAD), at);
      at += argument.getSize();
    }
    code.visitMethodInsn(isStatic ? INVOKESTATIC : INVOKEVIRTUAL, name, inside(method), type, false);
    code.visitInsn(Type.getReturnType(type).getOpcode(IRETURN));
    code.visitMaxs(Math.max(2, at), at);
    code.visitEnd();
  }

  private static String inside(String method) {
    return method + "$inside";
  }

  private final class Points extends MethodVisitor {
    private final boolean constructs;

    Points(MethodVisitor writer, boolean constructs) {
      super(ASM9, writer);
      this.constructs = constructs;
    }

    /** A constructor's object is seen by no other thread. */
    @Override
    public void visitFieldInsn(int instruction, String owner, String field, String type) {
      if (!(constructs && owner.equals(name)) && FinalFields.mayChange(owner, field)) call(mv, "pass");
      super.visitFieldInsn(instruction, owner, field, type);
    }

    @Override
    public void visitMethodInsn(int instruction, String owner, String method, String type, boolean ofInterface) {
      boolean shared = owner.startsWith("java/util/concurrent/") || owner.equals("java/lang/invoke/VarHandle");
      if (shared && !method.equals(CONSTRUCTOR)) call(mv, "pass");
      super.visitMethodInsn(instruction, owner, method, type, ofInterface);
    }

    @Override
    public void visitInsn(int instruction) {
      if (instruction == MONITORENTER) call(mv, "pass");
      super.visitInsn(instruction);
    }
  }

  /** Says when it begins and ends, also where it throws. */
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
