package io.fibry.simulation.agent;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** The constant pool of a class: reads it, and collects what is to be added to it. */
final class ConstantPool {
  static final int FIELD = 9, METHOD = 10, INTERFACE_METHOD = 11, HANDLE = 15;
  private static final int UTF8 = 1, CLASS = 7, NAME_AND_TYPE = 12;

  private final byte[] bytes;
  /** Where each constant begins; 0 for the second half of a long. */
  private final int[] at;
  private final int end;
  private final ByteArrayOutputStream added = new ByteArrayOutputStream();
  private int next;

  ConstantPool(byte[] bytes) {
    this.bytes = bytes;
    this.next = two(bytes, 8);
    this.at = new int[next];
    this.end = index();
  }

  private int index() {
    int position = 10;
    for (int i = 1; i < at.length; i++) {
      at[i] = position;
      int tag = bytes[position];
      position += length(tag, position);
      if (tag == 5 || tag == 6) i++; // a long or a double takes two numbers
    }
    return position;
  }

  private int length(int tag, int position) {
    return switch (tag) {
      case UTF8 -> 3 + two(bytes, position + 1);
      case 3, 4, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, 17, 18 -> 5;
      case 5, 6 -> 9;
      case CLASS, 8, 16, 19, 20 -> 3;
      case HANDLE -> 4;
      default -> throw new IllegalArgumentException("a constant of an unknown kind: " + tag);
    };
  }

  /** How many there were before any was added, and one. */
  int count() {
    return at.length;
  }

  /** The first byte after the pool. */
  int end() {
    return end;
  }

  /** Where a constant begins. */
  int at(int index) {
    return at[index];
  }

  /** A constant's kind; 0 for the second half of a long. */
  int tag(int index) {
    return at[index] == 0 ? 0 : bytes[at[index]];
  }

  boolean isReference(int index) {
    int tag = tag(index);
    return tag == FIELD || tag == METHOD || tag == INTERFACE_METHOD;
  }

  String owner(int reference) {
    return className(two(bytes, at[reference] + 1));
  }

  String name(int reference) {
    return text(two(bytes, nameAndType(reference) + 1));
  }

  String type(int reference) {
    return text(two(bytes, nameAndType(reference) + 3));
  }

  String className(int index) {
    return text(two(bytes, at[index] + 1));
  }

  String text(int utf8) {
    return new String(bytes, at[utf8] + 3, two(bytes, at[utf8] + 1), StandardCharsets.UTF_8);
  }

  private int nameAndType(int reference) {
    return at[two(bytes, at[reference] + 3)];
  }

  /** Adds the reference to a static method; returns its number. */
  int addMethod(String owner, String name, String type) {
    int target = add(CLASS, addText(owner));
    int nameAndType = add(NAME_AND_TYPE, addText(name), addText(type));
    return add(METHOD, target, nameAndType);
  }

  private int addText(String text) {
    byte[] encoded = text.getBytes(StandardCharsets.US_ASCII);
    add(UTF8, encoded.length);
    added.writeBytes(encoded);
    return next - 1;
  }

  private int add(int tag, int... parts) {
    added.write(tag);
    for (int part : parts) {
      added.write(part >> 8);
      added.write(part);
    }
    return next++;
  }

  /**
   * Returns the bytes of a class with the added constants, or null if there are more than a pool
   * may have.
   */
  byte[] join(byte[] changed) {
    if (next > 65_535) return null;
    put(changed, 8, next);
    var whole = new ByteArrayOutputStream(changed.length + added.size());
    whole.write(changed, 0, end);
    whole.writeBytes(added.toByteArray());
    whole.write(changed, end, changed.length - end);
    return whole.toByteArray();
  }

  static int two(byte[] bytes, int position) {
    return (bytes[position] & 255) << 8 | bytes[position + 1] & 255;
  }

  static int four(byte[] bytes, int position) {
    return two(bytes, position) << 16 | two(bytes, position + 2);
  }

  static void put(byte[] bytes, int position, int value) {
    bytes[position] = (byte) (value >> 8);
    bytes[position + 1] = (byte) value;
  }
}
