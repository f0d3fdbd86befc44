package io.fibry.store.folder.log;

import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
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
 * A record of the log: a turn with the messages that it handled and sent, or messages without a
 * turn. The latter are one accepted message or, after a compaction, the pending messages of a turn
 * that is no longer stored. The numbers in this layout are sizes in bytes:
 *
 * <pre>
 * crc 4 | type 1 | number 8 | milliseconds 8 | actor
 *     | handled: count 2, texts | sent: count 2, messages | body
 * actor:   kind, key        text: length 2, bytes
 * message: actor | id | due: milliseconds 8 | length 4 | body
 * </pre>
 *
 * @param actor the actor of the turn that sent the messages, or the receiver of an accepted message
 * @param number the number of the turn; 0 without a turn
 * @param millis when the record was made, in milliseconds since 1970
 * @param handledIds the ids of the messages that the turn handled
 * @param outbox the messages that the turn sent. Without a turn, the accepted message, or the
 * messages of a compacted turn that are still pending
 * @param content a view of the body of the turn; empty without a turn
 */
public record LogRecord(Store.ActorId actor, RecordType type, long number, long millis, List<String> handledIds,
    List<RecordedMessage> outbox,
    ByteBuffer content) {
  private static final int FIXED_BYTES = 29; // bytes of a record without texts, messages and body
  private static final int MAX_UNSIGNED_SHORT = 0xffff; // the maximum of a count or length, which has two bytes
  public static final int TYPE_OFFSET = 4; // offset of the type in a record
  public static final int NUMBER_OFFSET = 5; // offset of the number
  public static final int ACTOR_OFFSET = 21; // offset of the actor

  /**
   * The type of a record. The ordinal of a constant is its code in the log. FULL_STATE is a turn
   * that contains the full state. SNAPSHOT is the full state after a turn that another record
   * contains.
   */
  public enum RecordType {
    TURN, FULL_STATE, SNAPSHOT, MESSAGE;

    private static final RecordType[] ALL = values();

    public static RecordType of(int code) {
      return ALL[code];
    }
  }

  /** A message in a record. Its content is a view of the bytes of the record. */
  public record RecordedMessage(Store.ActorId to, String id, Instant due, ByteBuffer content) {
    public byte[] body() {
      return copy(content);
    }
  }

  public static ByteBuffer bytes(StoreBackend.Turn turn, boolean isSnapshot) {
    return bytes(typeOf(turn, isSnapshot), turn.number(), turn.at().toEpochMilli(), turn.actor(), turn.handledIds(),
        turn.outbox(), turn.body());
  }

  public static RecordType typeOf(StoreBackend.Turn turn, boolean isSnapshot) {
    return isSnapshot ? RecordType.SNAPSHOT : turn.isFullState() ? RecordType.FULL_STATE : RecordType.TURN;
  }

  public static ByteBuffer bytes(StoreBackend.PendingMessage message, long millis) {
    return bytes(RecordType.MESSAGE, 0, millis, message.to(), List.of(), List.of(message), new byte[0]);
  }

  /**
   * Encodes a copy of this record without dead messages, and without its turn if the turn is dead.
   * A turn or message is live if an actor or a view may still read it. The ids of handled messages
   * are left out, because those messages no longer exist in the log.
   *
   * @param isTurnLive whether the turn itself is live
   * @param liveMessages the live messages
   */
  public ByteBuffer bytes(boolean isTurnLive, List<RecordedMessage> liveMessages) {
    var messages = liveMessages.stream()
        .map(message -> new StoreBackend.PendingMessage(message.to, message.id, message.due, message.body())).toList();
    return bytes(isTurnLive ? type : RecordType.MESSAGE, isTurnLive ? number : 0, millis, actor, List.of(), messages,
        isTurnLive ? body() : new byte[0]);
  }

  private static ByteBuffer bytes(RecordType type, long number, long millis, Store.ActorId actor,
      List<String> handledIds, List<StoreBackend.PendingMessage> outbox, byte[] body) {
    var bytes = new ByteArrayOutputStream(128 + body.length);
    var out = new DataOutputStream(bytes);
    try {
      out.writeInt(0);
      out.writeByte(type.ordinal());
      out.writeLong(number);
      out.writeLong(millis);
      write(actor, out);
      out.writeShort(count(actor, handledIds));
      for (var id : handledIds) write(id, out);
      out.writeShort(count(actor, outbox));
      for (var message : outbox) {
        write(message.to(), out);
        write(message.id(), out);
        out.writeLong(message.due().toEpochMilli());
        out.writeInt(message.body().length);
        out.write(message.body());
      }
      out.write(body);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    var record = ByteBuffer.wrap(bytes.toByteArray());
    return record.putInt(0, crc(record));
  }

  /** Returns the number of elements. Throws if two bytes cannot hold it. */
  private static int count(Store.ActorId actor, List<?> elements) {
    if (elements.size() > MAX_UNSIGNED_SHORT) throw new IllegalArgumentException(
        "a turn of " + actor + " handles or sends " + elements.size() + " messages; at most "
            + MAX_UNSIGNED_SHORT + " are possible");
    return elements.size();
  }

  private static void write(Store.ActorId actor, DataOutputStream out) throws IOException {
    write(actor.kind(), out);
    write(actor.key(), out);
  }

  private static void write(String text, DataOutputStream out) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_UNSIGNED_SHORT) throw new IllegalArgumentException(
        "the kind or key of an actor, or the id of a message, takes " + bytes.length + " bytes; at most "
            + MAX_UNSIGNED_SHORT + " are possible");
    out.writeShort(bytes.length);
    out.write(bytes);
  }

  /**
   * Parses a record that may be damaged. Returns null if it is too short, or if its checksum is
   * wrong.
   */
  public static LogRecord readChecked(ByteBuffer record) {
    return record.remaining() < FIXED_BYTES || record.getInt(record.position()) != crc(record) ? null : of(record);
  }

  /** Parses a record of an intact frame. */
  public static LogRecord of(ByteBuffer record) {
    var input = record.duplicate();
    input.getInt();
    var type = RecordType.of(input.get());
    long number = input.getLong();
    long millis = input.getLong();
    var actor = readActor(input);
    var handledIds = new ArrayList<String>(0);
    for (int remaining = input.getShort() & 0xffff; remaining > 0; remaining--) handledIds.add(readText(input));
    var outbox = new ArrayList<RecordedMessage>(0);
    for (int remaining = input.getShort() & 0xffff; remaining > 0; remaining--) outbox.add(readMessage(input));
    return new LogRecord(actor, type, number, millis, handledIds, outbox, input.slice());
  }

  private static RecordedMessage readMessage(ByteBuffer input) {
    var to = readActor(input);
    String id = readText(input);
    var due = Instant.ofEpochMilli(input.getLong());
    int length = input.getInt();
    var content = input.slice(input.position(), length);
    input.position(input.position() + length);
    return new RecordedMessage(to, id, due, content);
  }

  public byte[] body() {
    return copy(content);
  }

  private static byte[] copy(ByteBuffer buffer) {
    byte[] body = new byte[buffer.remaining()];
    buffer.get(buffer.position(), body);
    return body;
  }

  private static Store.ActorId readActor(ByteBuffer input) {
    return new Store.ActorId(readText(input), readText(input));
  }

  private static String readText(ByteBuffer input) {
    byte[] bytes = new byte[input.getShort() & 0xffff];
    input.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static int crc(ByteBuffer record) {
    return Checksum.of(record.slice(record.position() + Integer.BYTES, record.remaining() - Integer.BYTES));
  }
}
