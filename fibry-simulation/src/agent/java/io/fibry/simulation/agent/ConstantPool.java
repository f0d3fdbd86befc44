package io.fibry.simulation.agent;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Reads the constant pool of a class, and collects constants that are to be added to it. */
final class ConstantPool {
  static final int FIELD = 9, METHOD = 10, INTERFACE_METHOD = 11, METHOD_HANDLE = 15;
  private static final int UTF8 = 1, CLASS = 7, NAME_AND_TYPE = 12;

  private final byte[] bytes;
  /** The offset of each constant; 0 for index 0, and for the second index of a long or double. */
  private final int[] offsets;
  private final int endOffset;
  private final ByteArrayOutputStream newConstants = new ByteArrayOutputStream();
  private int nextIndex;

  ConstantPool(byte[] bytes) {
    this.bytes = bytes;
    this.nextIndex = readU2(bytes, 8);
    this.offsets = new int[nextIndex];
    this.endOffset = findOffsets();
  }

  /** Fills in the offsets, and returns the offset behind the pool. */
  private int findOffsets() {
    int position = 10;
    for (int i = 1; i < offsets.length; i++) {
      offsets[i] = position;
      int tag = bytes[position];
      position += length(tag, position);
      if (tag == 5 || tag == 6) i++; // a long or a double takes two indices
    }
    return position;
  }

  private int length(int tag, int position) {
    return switch (tag) {
      case UTF8 -> 3 + readU2(bytes, position + 1);
      case 3, 4, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, 17, 18 -> 5;
      case 5, 6 -> 9;
      case CLASS, 8, 16, 19, 20 -> 3;
      case METHOD_HANDLE -> 4;
      default -> throw new IllegalArgumentException("a constant of an unknown kind: " + tag);
    };
  }

  /** Returns the number of indices before constants were added, including the unused index 0. */
  int count() {
    return offsets.length;
  }

  /** Returns the offset of the first byte after the pool. */
  int endOffset() {
    return endOffset;
  }

  /** Returns the offset of a constant. */
  int offset(int index) {
    return offsets[index];
  }

  /** Returns a constant's tag, which is its kind; 0 for the second index of a long or double. */
  int tag(int index) {
    return offsets[index] == 0 ? 0 : bytes[offsets[index]];
  }

  boolean isReference(int index) {
    int tag = tag(index);
    return tag == FIELD || tag == METHOD || tag == INTERFACE_METHOD;
  }

  String owner(int referenceIndex) {
    return className(readU2(bytes, offsets[referenceIndex] + 1));
  }

  String name(int referenceIndex) {
    return text(readU2(bytes, nameAndTypeOffset(referenceIndex) + 1));
  }

  String descriptor(int referenceIndex) {
    return text(readU2(bytes, nameAndTypeOffset(referenceIndex) + 3));
  }

  String className(int index) {
    return text(readU2(bytes, offsets[index] + 1));
  }

  /** Returns a text. It is exact if it has no characters above U+FFFF, as all redirected names. */
  String text(int utf8Index) {
    return new String(bytes, offsets[utf8Index] + 3, readU2(bytes, offsets[utf8Index] + 1), StandardCharsets.UTF_8);
  }

  private int nameAndTypeOffset(int referenceIndex) {
    return offsets[readU2(bytes, offsets[referenceIndex] + 3)];
  }

  /** Adds a reference to a static method, and returns its index. */
  int addMethod(String owner, String name, String type) {
    int ownerClass = add(CLASS, addText(owner));
    int nameAndType = add(NAME_AND_TYPE, addText(name), addText(type));
    return add(METHOD, ownerClass, nameAndType);
  }

  /** Adds a text of a redirect, which has only ASCII characters. */
  private int addText(String text) {
    byte[] encoded = text.getBytes(StandardCharsets.US_ASCII);
    add(UTF8, encoded.length);
    newConstants.writeBytes(encoded);
    return nextIndex - 1;
  }

  private int add(int tag, int... values) {
    newConstants.write(tag);
    for (int value : values) {
      newConstants.write(value >> 8);
      newConstants.write(value);
    }
    return nextIndex++;
  }

  /**
   * Returns the bytes of a class with the new constants inserted, or null if the pool would have
   * too many constants.
   *
   * @param classBytes the bytes of the class, whose pool still has its original length; this method
   * writes the new length into this array
   */
  byte[] insertNewConstants(byte[] classBytes) {
    if (nextIndex > 65_535) return null;
    writeU2(classBytes, 8, nextIndex);
    var joined = new ByteArrayOutputStream(classBytes.length + newConstants.size());
    joined.write(classBytes, 0, endOffset);
    joined.writeBytes(newConstants.toByteArray());
    joined.write(classBytes, endOffset, classBytes.length - endOffset);
    return joined.toByteArray();
  }

  static int readU2(byte[] bytes, int position) {
    return (bytes[position] & 255) << 8 | bytes[position + 1] & 255;
  }

  static int readU4(byte[] bytes, int position) {
    return readU2(bytes, position) << 16 | readU2(bytes, position + 2);
  }

  static void writeU2(byte[] bytes, int position, int value) {
    bytes[position] = (byte) (value >> 8);
    bytes[position + 1] = (byte) value;
  }
}
