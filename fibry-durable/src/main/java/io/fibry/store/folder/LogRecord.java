package io.fibry.store.folder;

import io.fibry.store.Store;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A record of the log: a turn, with the messages that it has done and sends, or one message that
 * was accepted.
 *
 * <pre>
 * crc 4 | type 1 | number 8 | milliseconds 8 | actor
 *     | done: count 2, texts | sends: count 2, messages | body
 * actor:   kind, key        text: length 2, bytes
 * message: actor | id | due: milliseconds 8 | length 4 | body
 * </pre>
 *
 * @param actor whose turn it is, or for which the message is
 * @param content the body
 */
record LogRecord(Store.ActorId actor, RecordType type, long number, long millis, List<String> handledIds,
    List<RecordedMessage> outbox,
    ByteBuffer content) {
  private static final int FIXED_BYTES = 29; // of all fields without texts
  private static final int MAX_COUNT = 0xffff; // of what two bytes count
  static final int TYPE_OFFSET = 4; // where it is, as the next two
  static final int NUMBER_OFFSET = 5;
  static final int ACTOR_OFFSET = 21;

  /** What a record is; its place here is its number in the log. */
  enum RecordType {
    TURN, WHOLE, SNAPSHOT, MESSAGE;

    private static final RecordType[] ALL = values();

    static RecordType of(int code) {
      return ALL[code];
    }
  }

  /** A message, the body of which has not been copied. */
  record RecordedMessage(Store.ActorId to, String id, Instant due, ByteBuffer content) {
    byte[] body() {
      return copy(content);
    }
  }

  static ByteBuffer bytes(Store.Turn turn, boolean snapshot) {
    return bytes(typeOf(turn, snapshot), turn.number(), turn.at().toEpochMilli(), turn.actor(), turn.handledIds(),
        turn.outbox(), turn.body());
  }

  static RecordType typeOf(Store.Turn turn, boolean snapshot) {
    return snapshot ? RecordType.SNAPSHOT : turn.isFullState() ? RecordType.WHOLE : RecordType.TURN;
  }

  static ByteBuffer bytes(Store.PendingMessage message, long millis) {
    return bytes(RecordType.MESSAGE, 0, millis, message.to(), List.of(), List.of(message), new byte[0]);
  }

  /**
   * With what is alive of it: these messages, and perhaps the turn. Leaves out the messages that it
   * has done, which are gone.
   */
  ByteBuffer bytes(boolean turn, List<RecordedMessage> alive) {
    var messages = alive.stream().map(one -> new Store.PendingMessage(one.to, one.id, one.due, one.body())).toList();
    return bytes(turn ? type : RecordType.MESSAGE, turn ? number : 0, millis, actor, List.of(), messages,
        turn ? body() : new byte[0]);
  }

  private static ByteBuffer bytes(RecordType type, long number, long millis, Store.ActorId actor, List<String> done,
      List<Store.PendingMessage> sends, byte[] body) {
    var bytes = new ByteArrayOutputStream(128 + body.length);
    var out = new DataOutputStream(bytes);
    try {
      out.writeInt(0);
      out.writeByte(type.ordinal());
      out.writeLong(number);
      out.writeLong(millis);
      write(actor, out);
      out.writeShort(count(actor, done));
      for (var id : done) write(id, out);
      out.writeShort(count(actor, sends));
      for (var message : sends) {
        write(message.to(), out);
        write(message.id(), out);
        out.writeLong(message.due().toEpochMilli());
        out.writeInt(message.body().length);
        out.write(message.body());
      }
      out.write(body);
    } catch (IOException never) {
      throw new UncheckedIOException(never);
    }
    var record = ByteBuffer.wrap(bytes.toByteArray());
    return record.putInt(0, crc(record));
  }

  private static int count(Store.ActorId actor, List<?> all) {
    if (all.size() > MAX_COUNT) throw new IllegalArgumentException(
        "a turn of " + actor + " has done or sends " + all.size() + " messages; at most " + MAX_COUNT
            + " are possible");
    return all.size();
  }

  private static void write(Store.ActorId actor, DataOutputStream out) throws IOException {
    write(actor.kind(), out);
    write(actor.key(), out);
  }

  private static void write(String text, DataOutputStream out) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_COUNT) throw new IllegalArgumentException(
        "the key of an actor, or the id of a message, takes " + bytes.length + " bytes; at most " + MAX_COUNT
            + " are possible");
    out.writeShort(bytes.length);
    out.write(bytes);
  }

  /** Returns null if the record is damaged. */
  static LogRecord readChecked(ByteBuffer record) {
    return record.remaining() < FIXED_BYTES || record.getInt(record.position()) != crc(record) ? null : of(record);
  }

  /** Reads a record in a whole frame. */
  static LogRecord of(ByteBuffer record) {
    var in = record.duplicate();
    in.getInt();
    var type = RecordType.of(in.get());
    long number = in.getLong();
    long millis = in.getLong();
    var actor = actor(in);
    var done = new ArrayList<String>(0);
    for (int left = in.getShort() & 0xffff; left > 0; left--) done.add(text(in));
    var sends = new ArrayList<RecordedMessage>(0);
    for (int left = in.getShort() & 0xffff; left > 0; left--) sends.add(sent(in));
    return new LogRecord(actor, type, number, millis, done, sends, in.slice());
  }

  private static RecordedMessage sent(ByteBuffer in) {
    var to = actor(in);
    String id = text(in);
    var due = Instant.ofEpochMilli(in.getLong());
    int length = in.getInt();
    var content = in.slice(in.position(), length);
    in.position(in.position() + length);
    return new RecordedMessage(to, id, due, content);
  }

  byte[] body() {
    return copy(content);
  }

  private static byte[] copy(ByteBuffer content) {
    byte[] body = new byte[content.remaining()];
    content.get(content.position(), body);
    return body;
  }

  private static Store.ActorId actor(ByteBuffer in) {
    return new Store.ActorId(text(in), text(in));
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[in.getShort() & 0xffff];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static int crc(ByteBuffer record) {
    return Checksum.of(record.slice(record.position() + Integer.BYTES, record.remaining() - Integer.BYTES));
  }
}
