package io.fibry.nats.connection;

import io.fibry.store.Store;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The names of a store's stream, and of the subjects in it. An actor has a subject for its turns,
 * a subject for its last snapshot, and a subject for each id of its pending messages.
 *
 * @param app the name of the app
 */
public record StoreSubjects(String app) {
  private static final String HEX = "0123456789ABCDEF";
  private static final char ESCAPE = '=';
  // indexes of the kind, the key and the message id in a subject that is split at its dots
  private static final int KIND_INDEX = 3;
  private static final int KEY_INDEX = 4;
  private static final int MESSAGE_INDEX = 5;

  public String streamName() {
    return "FB_" + app + "_log";
  }

  public String turns(Store.ActorId actor) {
    return turnsPrefix() + encodedId(actor);
  }

  /** Returns a filter for the turns of all actors of a kind. */
  public String turnsFilter(String kind) {
    return turnsPrefix() + encode(kind) + ".*";
  }

  public String snapshot(Store.ActorId actor) {
    return snapshotsPrefix() + encodedId(actor);
  }

  public String message(Store.ActorId to, String id) {
    return messagesPrefix() + encodedId(to) + "." + encode(id);
  }

  /** Returns a filter for all messages to an actor. */
  public String messagesFilter(Store.ActorId to) {
    return messagesPrefix() + encodedId(to) + ".*";
  }

  /** Returns a filter for the messages to all actors of a kind. */
  public String messagesOfKindFilter(String kind) {
    return messagesPrefix() + encode(kind) + ".>";
  }

  /** Returns filters that together match all subjects of the stream. */
  public String[] allFilters() {
    return new String[] {turnsPrefix() + ">", snapshotsPrefix() + ">", messagesPrefix() + ">"};
  }

  public String turnsPrefix() {
    return "fb." + app + ".j.";
  }

  public String snapshotsPrefix() {
    return "fb." + app + ".s.";
  }

  public String messagesPrefix() {
    return "fb." + app + ".m.";
  }

  /**
   * {@return whether this is the subject of an actor's turns or snapshot, or of one message} Its
   * names must be as a store encodes them.
   */
  public boolean isOfOneActor(String subject) {
    return subject.matches("fb\\.\\Q" + app + "\\E\\.(?:[js](?:\\.[\\w=-]+){2}|m(?:\\.[\\w=-]+){3})")
        && Arrays.stream(subject.split("\\.")).skip(KIND_INDEX).allMatch(name -> encode(decode(name)).equals(name));
  }

  private static String encodedId(Store.ActorId actor) {
    return encode(actor.kind()) + "." + encode(actor.key());
  }

  public static Store.ActorId actorId(String subject) {
    var names = subject.split("\\.");
    return new Store.ActorId(decode(names[KIND_INDEX]), decode(names[KEY_INDEX]));
  }

  /** Returns the id in the subject of a message. */
  public static String messageId(String subject) {
    return decode(subject.split("\\.")[MESSAGE_INDEX]);
  }

  /** Encodes any text as one name between two dots. */
  static String encode(String text) {
    if (text.isEmpty()) return String.valueOf(ESCAPE);
    var encoded = new StringBuilder(text.length());
    for (byte octet : text.getBytes(StandardCharsets.UTF_8))
      if (isPlain(octet)) encoded.append((char) octet);
      else encoded.append(ESCAPE).append(HEX.charAt(octet >> 4 & 15)).append(HEX.charAt(octet & 15));
    return encoded.toString();
  }

  private static boolean isPlain(byte octet) {
    return octet >= 'a' && octet <= 'z' || octet >= 'A' && octet <= 'Z' || octet >= '0' && octet <= '9'
        || octet == '-' || octet == '_';
  }

  /** Decodes a name. The result is meaningless if {@link #encode} has not made the name. */
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
