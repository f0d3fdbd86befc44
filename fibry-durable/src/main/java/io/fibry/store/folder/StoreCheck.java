package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a look at all files of a store has found. Immutable and thread-safe.
 *
 * @param store which
 * @param bytes of its files
 * @param frames of the log that are whole
 * @param actors that can be read
 * @param turns of them
 * @param pendingMessages messages that are stored and not handled yet, and reminders
 * @param parkedMessages messages that were parked
 * @param isClosed the store was closed at its last use
 * @param tornFiles files with ends of logs that openings have kept aside, each of which was in
 * doubt
 * @param doubt the end of the log if it is not whole, and nothing says that it was on disk. It is a
 * commit that a crash cut off, of which no sender was told, or it was damaged after the crash. When
 * a store has been idle for 20 ms, a mark behind the last commit says that it was on disk: if that
 * is damaged, it is {@code wrong}. So only turns of the last milliseconds before the end of the
 * process can be in doubt. After a loss of power, turns of the last seconds can, because the mark
 * is not forced. {@code withSyncInterval} adds its pause. An opening keeps the doubtful bytes in a
 * file beside the log, and continues in their place
 * @param defects descriptions of bytes that are not as they were written
 * @param lostTurns turns that cannot be read because of that. Those that were the last of their
 * actor are known only if {@code wrong} names the actor
 */
public record StoreCheck(String store, long bytes, long frames, long actors, long turns, long pendingMessages,
    long parkedMessages,
    boolean isClosed, List<String> tornFiles, Optional<Defect> doubt, List<Defect> defects, List<LostTurns> lostTurns) {

  /**
   * Something that is not as it was written.
   *
   * @param file in which
   * @param offset where it begins there
   * @param actor whose it was, if that can still be read
   * @param what is wrong
   */
  public record Defect(String file, long offset, Optional<Store.ActorId> actor, String what) {
    @Override
    public String toString() {
      return file + " at " + offset + ": " + actor.map(id -> id + ": ").orElse("") + what;
    }
  }

  /**
   * Turns of an actor that cannot be read.
   *
   * @param actor which
   * @param first the number of the first one
   * @param last the number of the last one
   * @param why they cannot
   */
  public record LostTurns(Store.ActorId actor, long first, long last, String why) {
    @Override
    public String toString() {
      return actor + ", turn " + first + (last == first ? "" : " to " + last) + ": " + why;
    }
  }

  /** {@return whether all that is known to have been on disk is as it was written} */
  public boolean isWhole() {
    return defects.isEmpty() && lostTurns.isEmpty();
  }

  /** A line for each fact. */
  @Override
  public String toString() {
    String state = !isWhole() ? "damaged" : doubt.isEmpty() ? "whole" : "whole up to its end, which is in doubt";
    var head = store + " is " + state + ": " + actors + " actors, " + turns + " turns, " + pendingMessages
        + " messages that wait, " + parkedMessages + " aside; " + frames + " frames, " + bytes + " bytes; it was "
        + (isClosed ? "" : "not ") + "closed";
    return Stream
        .of(Stream.of(head), tornFiles.stream().map(one -> "torn: " + one),
            doubt.stream().map(one -> "in doubt: " + one), defects.stream().map(one -> "wrong: " + one),
            lostTurns.stream().map(one -> "lost: " + one))
        .flatMap(lines -> lines).collect(Collectors.joining("\n"));
  }

  /**
   * Prints the content of folders. The exit code is 0 if they are whole, 1 if one is damaged, and 3
   * if one is whole except for its end, which is in doubt. With a second folder, all that is whole
   * goes there.
   *
   * @param folders one, or two
   */
  public static void main(String... folders) {
    if (folders.length < 1 || folders.length > 2) {
      System.err.println("give the folder of a store; and an empty folder, if what is whole is to go there");
      System.exit(2);
    }
    try {
      var from = Path.of(folders[0]);
      var found = folders.length == 1 ? FolderStore.check(from) : FolderStore.salvage(from, Path.of(folders[1]));
      System.out.println(found);
      System.exit(!found.isWhole() ? 1 : found.doubt().isPresent() ? 3 : 0);
    } catch (RuntimeException failure) {
      System.err.println(Lines.message(failure));
      System.exit(2);
    }
  }
}
