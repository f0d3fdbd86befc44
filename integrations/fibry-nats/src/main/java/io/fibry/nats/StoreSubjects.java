package io.fibry.nats;

import io.fibry.store.Store;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Names of what a store keeps: a stream, and in it subjects for the turns of each actor, its last
 * snapshot, and each message that waits for it.
 *
 * @param app whose
 */
record StoreSubjects(String app) {
  private static final String HEX = "0123456789ABCDEF";
  private static final char ESCAPE = '=';
  private static final int KIND = 3; // of the names between the dots
  private static final int KEY = 4;
  private static final int MESSAGE = 5;

  String stream() {
    return "FB_" + app + "_log";
  }

  String turns(Store.ActorId actor) {
    return allTurns() + of(actor);
  }

  /** A filter. */
  String turnsOf(String kind) {
    return allTurns() + encode(kind) + ".*";
  }

  String snapshot(Store.ActorId actor) {
    return allSnapshots() + of(actor);
  }

  String message(Store.ActorId to, String id) {
    return allMessages() + of(to) + "." + encode(id);
  }

  /** A filter. */
  String messages(Store.ActorId to) {
    return allMessages() + of(to) + ".*";
  }

  /** A filter. */
  String messagesOf(String kind) {
    return allMessages() + encode(kind) + ".>";
  }

  /** Filters: all that there is. */
  String[] all() {
    return new String[] {allTurns() + ">", allSnapshots() + ">", allMessages() + ">"};
  }

  String allTurns() {
    return "fb." + app + ".j.";
  }

  String allSnapshots() {
    return "fb." + app + ".s.";
  }

  String allMessages() {
    return "fb." + app + ".m.";
  }

  /**
   * {@return whether this is a subject of one actor's turns, of its snapshot, or of one message}
   */
  boolean isOfOne(String subject) {
    return subject.matches("fb\\.\\Q" + app + "\\E\\.(?:[js](?:\\.[\\w=-]+){2}|m(?:\\.[\\w=-]+){3})");
  }

  private static String of(Store.ActorId actor) {
    return encode(actor.kind()) + "." + encode(actor.key());
  }

  static Store.ActorId actor(String subject) {
    var names = subject.split("\\.");
    return new Store.ActorId(decode(names[KIND]), decode(names[KEY]));
  }

  /** Its id. */
  static String message(String subject) {
    return decode(subject.split("\\.")[MESSAGE]);
  }

  /** Any text as one name. */
  static String encode(String text) {
    if (text.isEmpty()) return String.valueOf(ESCAPE);
    var encoded = new StringBuilder(text.length());
    for (byte one : text.getBytes(StandardCharsets.UTF_8))
      if (isPlain(one)) encoded.append((char) one);
      else encoded.append(ESCAPE).append(HEX.charAt(one >> 4 & 15)).append(HEX.charAt(one & 15));
    return encoded.toString();
  }

  private static boolean isPlain(byte one) {
    return one >= 'a' && one <= 'z' || one >= 'A' && one <= 'Z' || one >= '0' && one <= '9' || one == '-' || one == '_';
  }

  static String decode(String name) {
    if (name.indexOf(ESCAPE) < 0) return name;
    var bytes = new ByteArrayOutputStream(name.length());
    for (int i = 0; i < name.length(); i++)
      if (name.charAt(i) != ESCAPE) bytes.write(name.charAt(i));
      else if (i + 2 < name.length()) {
        bytes.write(HEX.indexOf(name.charAt(i + 1)) << 4 | HEX.indexOf(name.charAt(i + 2)));
        i += 2;
      }
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
