package io.fibry.simulation.agent;

import static io.fibry.simulation.agent.ConstantPool.four;
import static io.fibry.simulation.agent.ConstantPool.put;
import static io.fibry.simulation.agent.ConstantPool.two;

import java.util.HashMap;
import java.util.Map;

/**
 * Redirects the calls of a class. The call of a method, and the reading of a static field, become
 * the call of a static method. That instruction is as long and leaves the same on the stack: an
 * instance is its first argument. So no instruction moves, no frame changes, and no library for
 * bytecode is needed; the constant pool grows.
 */
final class ClassPatcher {
  private static final int GETSTATIC = 178, INVOKEVIRTUAL = 182, INVOKESTATIC = 184, INVOKEINTERFACE = 185;
  private static final int TABLESWITCH = 170, LOOKUPSWITCH = 171, WIDE = 196, IINC = 132;
  /** The length of each instruction as a digit, by the number of the instruction. */
  private static final String LENGTHS = lengths();

  private final byte[] bytes;
  private final ConstantPool constants;
  /**
   * The number of the reference that replaces another one, by the number of the replaced reference.
   */
  private final Map<Integer, Integer> instead = new HashMap<>();

  private ClassPatcher(byte[] bytes) {
    this.bytes = bytes;
    this.constants = new ConstantPool(bytes);
  }

  /** Returns the changed class, or null if there is nothing to change. */
  static byte[] patch(byte[] bytes, RedirectTable redirects, ThreadTypes ancestry) {
    return new ClassPatcher(bytes).patch(redirects, ancestry);
  }

  /** The name of a class's superclass; null for Object and for modules. */
  static String superclass(byte[] bytes) {
    var constants = new ConstantPool(bytes);
    int index = two(bytes, constants.end() + 4);
    return index == 0 ? null : constants.className(index);
  }

  private byte[] patch(RedirectTable redirects, ThreadTypes ancestry) {
    String within = constants.className(two(bytes, constants.end() + 2));
    for (int i = 1; i < constants.count(); i++) {
      if (!constants.isReference(i)) continue;
      var row = redirects.find(within, constants.owner(i), constants.name(i), constants.type(i), ancestry);
      if (row != null) instead.put(i, constants.addMethod(row.target(), row.method(), row.call()));
    }
    if (instead.isEmpty()) return null;
    byte[] changed = bytes.clone();
    handles(changed);
    methods(changed);
    return constants.join(changed);
  }

  /** Changes method references, such as Thread::start, into references to static methods. */
  private void handles(byte[] changed) {
    for (int i = 1; i < constants.count(); i++) {
      if (constants.tag(i) != ConstantPool.HANDLE) continue;
      int at = constants.at(i);
      var call = instead.get(two(bytes, at + 2));
      if (call == null || !isRead(bytes[at + 1])) continue;
      changed[at + 1] = 6; // REF_invokeStatic
      put(changed, at + 2, call);
    }
  }

  /** REF_getStatic, REF_invokeVirtual, REF_invokeStatic, REF_invokeInterface. */
  private static boolean isRead(int kind) {
    return kind == 2 || kind == 5 || kind == 6 || kind == 9;
  }

  private void methods(byte[] changed) {
    int interfaces = constants.end() + 6;
    int fields = interfaces + 2 + 2 * two(bytes, interfaces);
    members(members(fields, null), changed);
  }

  /** Walks over fields or methods; returns where they end. */
  private int members(int position, byte[] changed) {
    int count = two(bytes, position);
    position += 2;
    for (int i = 0; i < count; i++) position = attributes(position + 6, changed);
    return position;
  }

  private int attributes(int position, byte[] changed) {
    int count = two(bytes, position);
    position += 2;
    for (int i = 0; i < count; i++) {
      if (changed != null && constants.text(two(bytes, position)).equals("Code"))
        code(position + 14, four(bytes, position + 10), changed);
      position += 6 + four(bytes, position + 2);
    }
    return position;
  }

  private void code(int from, int length, byte[] changed) {
    for (int at = from; at < from + length; at += length(from, at)) {
      int instruction = bytes[at] & 255;
      if (instruction != GETSTATIC && instruction != INVOKEVIRTUAL && instruction != INVOKESTATIC
          && instruction != INVOKEINTERFACE)
        continue;
      var call = instead.get(two(bytes, at + 1));
      if (call == null) continue;
      changed[at] = (byte) INVOKESTATIC;
      put(changed, at + 1, call);
      if (instruction == INVOKEINTERFACE) put(changed, at + 3, 0); // its two bytes more do nothing
    }
  }

  private int length(int from, int at) {
    int instruction = bytes[at] & 255;
    int aligned = at + 4 - (at - from) % 4;
    return switch (instruction) {
      case TABLESWITCH -> aligned + 12 + 4 * (four(bytes, aligned + 8) - four(bytes, aligned + 4) + 1) - at;
      case LOOKUPSWITCH -> aligned + 8 + 8 * four(bytes, aligned + 4) - at;
      case WIDE -> (bytes[at + 1] & 255) == IINC ? 6 : 4;
      default -> LENGTHS.charAt(instruction) - '0';
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
