package io.fibry.simulation.agent;

import static io.fibry.simulation.agent.ConstantPool.readU2;
import static io.fibry.simulation.agent.ConstantPool.readU4;
import static io.fibry.simulation.agent.ConstantPool.writeU2;

import java.util.HashMap;
import java.util.Map;

/**
 * Redirects calls in the bytecode of a class. A method call, and a read of a static field, become a
 * call of a static method. If the original method has an instance, the instance becomes the first
 * argument. The new instruction has the same length and the same effect on the stack. So no
 * instruction moves, no stack map frame changes, and no bytecode library is needed; only the
 * constant pool grows.
 */
final class ClassPatcher {
  private static final int GETSTATIC = 178, INVOKEVIRTUAL = 182, INVOKESTATIC = 184, INVOKEINTERFACE = 185;
  private static final int TABLESWITCH = 170, LOOKUPSWITCH = 171, WIDE = 196, IINC = 132;
  /** The length in bytes of each instruction, as a digit at the index of its opcode. */
  private static final String LENGTHS = lengths();

  private final byte[] bytes;
  private final ConstantPool constants;
  /**
   * Maps the constant pool index of a redirected reference to the index of the reference that
   * replaces it.
   */
  private final Map<Integer, Integer> replacements = new HashMap<>();

  private ClassPatcher(byte[] bytes) {
    this.bytes = bytes;
    this.constants = new ConstantPool(bytes);
  }

  /** Returns the changed class, or null if there is nothing to change. */
  static byte[] patch(byte[] bytes, RedirectTable redirects, ThreadTypes threadTypes) {
    return new ClassPatcher(bytes).patch(redirects, threadTypes);
  }

  /** Returns the name of a class's superclass, or null for Object and for modules. */
  static String superclass(byte[] bytes) {
    var constants = new ConstantPool(bytes);
    int index = readU2(bytes, constants.endOffset() + 4);
    return index == 0 ? null : constants.className(index);
  }

  private byte[] patch(RedirectTable redirects, ThreadTypes threadTypes) {
    String patchedClass = constants.className(readU2(bytes, constants.endOffset() + 2));
    for (int i = 1; i < constants.count(); i++) {
      if (!constants.isReference(i)) continue;
      var row =
          redirects.find(patchedClass, constants.owner(i), constants.name(i), constants.descriptor(i), threadTypes);
      if (row != null)
        replacements.put(i, constants.addMethod(row.targetClass(), row.targetMethod(), row.targetDescriptor()));
    }
    if (replacements.isEmpty()) return null;
    byte[] changedBytes = bytes.clone();
    patchHandles(changedBytes);
    patchMethods(changedBytes);
    return constants.insertNewConstants(changedBytes);
  }

  /** Changes method references, such as Thread::start, into references to static methods. */
  private void patchHandles(byte[] changedBytes) {
    for (int i = 1; i < constants.count(); i++) {
      if (constants.tag(i) != ConstantPool.METHOD_HANDLE) continue;
      int offset = constants.offset(i);
      var replacement = replacements.get(readU2(bytes, offset + 2));
      if (replacement == null || !isRedirectable(bytes[offset + 1])) continue;
      changedBytes[offset + 1] = 6; // REF_invokeStatic
      writeU2(changedBytes, offset + 2, replacement);
    }
  }

  /** Returns whether the kind is getStatic, invokeVirtual, invokeStatic or invokeInterface. */
  private static boolean isRedirectable(int kind) {
    return kind == 2 || kind == 5 || kind == 6 || kind == 9;
  }

  private void patchMethods(byte[] changedBytes) {
    int interfacesOffset = constants.endOffset() + 6;
    int fieldsOffset = interfacesOffset + 2 + 2 * readU2(bytes, interfacesOffset);
    int methodsOffset = patchMembers(fieldsOffset, null);
    patchMembers(methodsOffset, changedBytes);
  }

  /**
   * Walks over all fields, or all methods.
   *
   * @param changedBytes the class in which calls in methods are redirected; null for no redirection
   * @return the position behind the last field or method
   */
  private int patchMembers(int position, byte[] changedBytes) {
    int count = readU2(bytes, position);
    position += 2;
    for (int i = 0; i < count; i++) position = patchAttributes(position + 6, changedBytes);
    return position;
  }

  private int patchAttributes(int position, byte[] changedBytes) {
    int count = readU2(bytes, position);
    position += 2;
    for (int i = 0; i < count; i++) {
      if (changedBytes != null && constants.text(readU2(bytes, position)).equals("Code"))
        patchCode(position + 14, readU4(bytes, position + 10), changedBytes);
      position += 6 + readU4(bytes, position + 2);
    }
    return position;
  }

  private void patchCode(int start, int length, byte[] changedBytes) {
    for (int position = start; position < start + length; position += length(start, position)) {
      int opcode = bytes[position] & 255;
      if (opcode != GETSTATIC && opcode != INVOKEVIRTUAL && opcode != INVOKESTATIC
          && opcode != INVOKEINTERFACE)
        continue;
      var replacement = replacements.get(readU2(bytes, position + 1));
      if (replacement == null) continue;
      changedBytes[position] = (byte) INVOKESTATIC;
      writeU2(changedBytes, position + 1, replacement);
      // INVOKEINTERFACE is two bytes longer than INVOKESTATIC: NOPs fill these two bytes.
      if (opcode == INVOKEINTERFACE) writeU2(changedBytes, position + 3, 0);
    }
  }

  private int length(int codeStart, int position) {
    int opcode = bytes[position] & 255;
    int aligned = position + 4 - (position - codeStart) % 4;
    return switch (opcode) {
      case TABLESWITCH -> aligned + 12 + 4 * (readU4(bytes, aligned + 8) - readU4(bytes, aligned + 4) + 1) - position;
      case LOOKUPSWITCH -> aligned + 8 + 8 * readU4(bytes, aligned + 4) - position;
      case WIDE -> (bytes[position + 1] & 255) == IINC ? 6 : 4;
      default -> LENGTHS.charAt(opcode) - '0';
    };
  }

  private static String lengths() {
    var text = new StringBuilder("1".repeat(256));
    for (int i : new int[] {16, 18, 21, 22, 23, 24, 25, 54, 55, 56, 57, 58, 169, 188}) text.setCharAt(i, '2');
    for (int i : new int[] {17, 19, 20, IINC, 187, 189, 192, 193, 198, 199}) text.setCharAt(i, '3');
    for (int i = 153; i <= 168; i++) text.setCharAt(i, '3'); // jumps
    for (int i = GETSTATIC; i <= INVOKESTATIC; i++) text.setCharAt(i, '3');
    for (int i : new int[] {INVOKEINTERFACE, 186, 200, 201}) text.setCharAt(i, '5');
    text.setCharAt(197, '4');
    return text.toString();
  }
}
