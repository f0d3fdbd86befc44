package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The result of a check of all files of a store. Immutable and thread-safe.
 *
 * @param store the name of the checked disk, usually its folder
 * @param bytes the size of all files in bytes
 * @param frames the number of intact frames of the log
 * @param actors the number of actors that can be read
 * @param turns the number of turns that can be read
 * @param pendingMessages stored messages that are not handled yet, and reminders
 * @param parkedMessages messages that failed and are parked for an operator
 * @param isClosed whether the store was closed at its last use
 * @param tornFiles the names of files with a damaged end of the log, which was moved there when the
 * store was opened
 * @param doubt the end of the log, if it is damaged and no mark says that it was on disk. It is a
 * commit that a crash cut off before any sender was notified, or a commit that was damaged
 * after the crash. When a store has been idle for 20 ms, it writes a mark, which says that the
 * last commit is on disk. If that commit is damaged, it is one of the {@code defects}. So only
 * turns of the last milliseconds before the end of the process can be in doubt. After a loss of
 * power, turns of the last seconds can be in doubt, because the mark is not synced. If
 * {@code withSyncInterval} sets an interval, the interval is added to these times. When the store
 * is opened, the doubtful bytes are moved to a file beside the log, and the log continues in their
 * place
 * @param defects bytes that differ from the bytes that the store wrote
 * @param lostTurns turns that cannot be read because of the defects. If the last turns of an actor
 * are lost, this is known only if a defect names the actor
 */
public record StoreCheck(String store, long bytes, long frames, long actors, long turns, long pendingMessages,
    long parkedMessages,
    boolean isClosed, List<String> tornFiles, Optional<Defect> doubt, List<Defect> defects, List<LostTurns> lostTurns) {

  /**
   * Bytes that differ from the bytes that the store wrote.
   *
   * @param file the name of the file
   * @param offset the offset of the first such byte in the file
   * @param actor the actor of the damaged record, if the name of the actor can still be read
   * @param what a description of the defect
   */
  public record Defect(String file, long offset, Optional<Store.ActorId> actor, String what) {
    @Override
    public String toString() {
      return file + " at " + offset + ": " + actor.map(id -> id + ": ").orElse("") + what;
    }
  }

  /**
   * Successive turns of an actor that cannot be read.
   *
   * @param actor the actor
   * @param first the number of the first lost turn
   * @param last the number of the last lost turn
   * @param why why these turns cannot be read
   */
  public record LostTurns(Store.ActorId actor, long first, long last, String why) {
    @Override
    public String toString() {
      return actor + ", turn " + first + (last == first ? "" : " to " + last) + ": " + why;
    }
  }

  /** {@return whether the store has neither defects nor lost turns} Its end may be in doubt. */
  public boolean isWhole() {
    return defects.isEmpty() && lostTurns.isEmpty();
  }

  /**
   * Returns a summary line, and a line for each torn file, doubt, defect and range of lost turns.
   */
  @Override
  public String toString() {
    String state = !isWhole() ? "damaged" : doubt.isEmpty() ? "whole" : "whole up to its end, which is in doubt";
    var summary =
        store + " is " + state + ": " + Lines.count(actors, "actor") + ", " + Lines.count(turns, "turn") + ", "
            + Lines.count(pendingMessages, "pending message") + ", " + parkedMessages + " parked; "
            + Lines.count(frames, "frame") + ", " + Lines.count(bytes, "byte") + "; it was "
            + (isClosed ? "" : "not ") + "closed";
    return Stream
        .of(Stream.of(summary), tornFiles.stream().map(line -> "torn: " + line),
            doubt.stream().map(line -> "in doubt: " + line), defects.stream().map(line -> "wrong: " + line),
            lostTurns.stream().map(line -> "lost: " + line))
        .flatMap(lines -> lines).collect(Collectors.joining("\n"));
  }

  /**
   * Checks a store, and prints the result. If a second folder is given, the intact part of the
   * store is written to it. The exit code is 0 if the store is intact, 1 if it is damaged, 3 if
   * only its end is in doubt, and 2 if it could not be checked.
   *
   * @param folders the folder of the store, and optionally an empty folder
   */
  public static void main(String... folders) {
    if (folders.length < 1 || folders.length > 2) {
      System.err.println("give the folder of a store, and optionally an empty folder for its intact part");
      System.exit(2);
    }
    try {
      var storeFolder = Path.of(folders[0]);
      var check = folders.length == 1 ? FolderStore.check(storeFolder)
          : FolderStore.salvage(storeFolder, Path.of(folders[1]));
      System.out.println(check);
      System.exit(!check.isWhole() ? 1 : check.doubt().isPresent() ? 3 : 0);
    } catch (RuntimeException failure) {
      System.err.println(Lines.message(failure));
      System.exit(2);
    }
  }
}
