package io.fibry.store.folder;

import io.fibry.store.Store;
import io.fibry.store.folder.disk.FileDisk;
import io.fibry.store.folder.repair.LogSalvage;
import io.fibry.store.folder.repair.SalvagePlan;
import io.fibry.store.spi.WriteInbox;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A store in a folder of its own, which one process has open at a time. Turns that it reports as
 * stored survive the end of the process. They also survive a loss of power, if the disk has really
 * stored the bytes that it reports as synced. Thread-safe.
 *
 * <p>One thread writes all pending turns and then syncs them to disk together. Therefore the cost
 * of a turn falls when more actors are active. Checksums detect damage: a damaged store does not
 * open as if it were intact.
 */
public abstract sealed class FolderStore implements Store permits LogStore {

  FolderStore() {}

  /**
   * Opens a store, or creates a new one.
   *
   * @param folder the folder of the store; created if it does not exist
   * @return the store; close it
   * @throws io.fibry.store.StoreInUseException if the store is already open
   * @throws io.fibry.store.StoreDamagedException if data is missing or damaged
   * @throws UncheckedIOException if the folder cannot be read or written
   */
  public static FolderStore open(Path folder) {
    return open(folder, options -> options);
  }

  /**
   * Opens a store with options, or creates a new one.
   *
   * @param folder the folder of the store; created if it does not exist
   * @param options returns the options, made from the default options
   * @return the store; close it
   */
  public static FolderStore open(Path folder, UnaryOperator<Options> options) {
    Objects.requireNonNull(options, "options");
    try {
      return open(FileDisk.open(Objects.requireNonNull(folder, "folder")), options);
    } catch (IOException failure) {
      throw new UncheckedIOException(folder + " cannot be opened as a store: " + Lines.thrown(failure), failure);
    }
  }

  /**
   * Opens a store on a disk of your own, which may encrypt the files, or fail on purpose in a test.
   *
   * @param disk the files of the store; closed with the store, or if this method fails
   * @param options returns the options, made from the default options
   * @return the store; close it
   */
  public static FolderStore open(StorageDirectory disk, UnaryOperator<Options> options) {
    Objects.requireNonNull(disk, "disk");
    try {
      var chosenOptions = Objects.requireNonNull(options, "options").apply(Options.DEFAULT);
      return LogStore.open(disk, Objects.requireNonNull(chosenOptions, "the result of options"));
    } catch (IOException failure) {
      throw closeAfter(disk,
          new UncheckedIOException(disk + " cannot be opened as a store: " + Lines.thrown(failure), failure));
    } catch (RuntimeException failure) {
      throw closeAfter(disk, failure);
    } catch (Error failure) {
      throw closeAfter(disk, failure);
    }
  }

  /**
   * Reads all files of a store that is not open, and compares them with their checksums. No file is
   * changed.
   *
   * @param folder the folder of the store
   * @return the content and the defects of the store
   * @throws io.fibry.store.StoreInUseException if the store is open
   * @throws UncheckedIOException if the files cannot be read
   */
  public static StoreCheck check(Path folder) {
    try (var disk = FileDisk.openReadOnly(Objects.requireNonNull(folder, "folder"))) {
      return SalvagePlan.of(disk);
    } catch (IOException failure) {
      throw new UncheckedIOException(folder + " cannot be read as a store: " + Lines.thrown(failure), failure);
    }
  }

  /**
   * Writes the intact part of a damaged store to a new store. The damaged store is not changed. A
   * turn after a missing turn is left out, unless a later turn has the full state. The messages
   * that the omitted turn sent are left out, too. The messages that it handled are pending again.
   *
   * @param folder the folder of the damaged store, which must not be open
   * @param to an empty folder for the new store; created if it does not exist
   * @return the defects of the damaged store, and the lost turns
   * @throws io.fibry.store.StoreInUseException if one of the stores is open
   * @throws IllegalArgumentException if the folder {@code to} is not empty
   * @throws UncheckedIOException if the files cannot be read, or written
   */
  public static StoreCheck salvage(Path folder, Path to) {
    Objects.requireNonNull(folder, "folder");
    Objects.requireNonNull(to, "to");
    try (var disk = FileDisk.openReadOnly(folder); var target = FileDisk.open(to)) {
      return LogSalvage.run(disk, target);
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "the intact part of " + folder + " cannot be written to " + to + ": " + Lines.thrown(failure),
          failure);
    }
  }

  private static <X extends Throwable> X closeAfter(StorageDirectory disk, X failure) {
    try {
      disk.close();
    } catch (IOException closeFailure) {
      failure.addSuppressed(closeFailure);
    }
    return failure;
  }

  /**
   * Returns the health of this store, also if it is closed. The call never waits for the disk. Its
   * duration grows with the number of actors that are loaded or have pending messages.
   *
   * @return counts and flags
   */
  public abstract Health health();

  /**
   * Copies the store while it is in use. The copy is of one moment: it contains all turns that were
   * reported as stored before this call, and no parts of turns. Until this method returns, the
   * store does not replace any file.
   *
   * @param folder an empty folder for the copy; created if it does not exist. It does not open as a
   * store until the copy is complete
   * @throws IllegalArgumentException if the folder is not empty
   * @throws io.fibry.store.StoreDamagedException if a file of this store is damaged
   * @throws io.fibry.store.StoreClosedException if the store is closed, also during the copy
   * @throws UncheckedIOException if files cannot be read, or written
   */
  public final void backup(Path folder) {
    try (var to = FileDisk.open(Objects.requireNonNull(folder, "folder"))) {
      backup(to);
    } catch (IOException failure) {
      throw new UncheckedIOException(this + " could not be copied to " + folder + ": " + Lines.thrown(failure),
          failure);
    }
  }

  /**
   * Makes a backup on a disk of your own.
   *
   * @param to a disk without files; this method does not close it
   */
  public abstract void backup(StorageDirectory to);

  /**
   * The health of a store.
   *
   * @param turns turns that were stored since the store was opened
   * @param refusedTurns turns and messages that were not stored since the store was opened, for any
   * reason
   * @param pendingWrites turns and messages that are being stored now
   * @param actors actors that have stored turns
   * @param pendingMessages stored messages that are not handled yet, and reminders
   * @param dueMessages pending messages that may be handled now, unlike reminders of later times
   * @param parkedMessages messages that failed and are parked for an operator
   * @param bytes the size of all files in bytes
   * @param syncs syncs of the log to the disk, since the store was opened
   * @param isFull whether the next file of the log could not be created. The store then refuses new
   * actors and messages. When the current file is full, it also refuses turns. It tries again each
   * second
   * @param isBroken whether the disk failed in a way that leaves its content unknown. The store
   * refuses all writes: close it, repair the disk, and open it again
   * @param tornFiles names of files with a damaged end of the log, which was moved there when the
   * store was opened. Such an end is a commit that a crash cut off before any sender was notified,
   * or a commit that was damaged later, see {@code doubt} of {@link StoreCheck}
   */
  public record Health(long turns, long refusedTurns, long pendingWrites, long actors, long pendingMessages,
      long dueMessages, long parkedMessages, long bytes, Syncs syncs, boolean isFull, boolean isBroken,
      List<String> tornFiles) {}

  /**
   * The syncs of a log.
   *
   * @param count the number of syncs
   * @param total the time that all syncs took
   * @param last the time that the last sync took; zero if there was none
   */
  public record Syncs(long count, Duration total, Duration last) {}

  /**
   * Options of a store. Immutable.
   *
   * @param segmentBytes the size of each file of the log in bytes
   * @param maxPendingBytes the size in bytes of the turns that may wait to be stored; when it is
   * reached, senders wait
   * @param syncInterval the maximum time between two syncs of written turns; if zero, turns are
   * synced before they count as stored
   * @param clock decides when messages are due
   */
  public record Options(int segmentBytes, int maxPendingBytes, Duration syncInterval, InstantSource clock) {
    private static final int MIN_SEGMENT_BYTES = 4096;
    private static final int MAX_SEGMENT_BYTES = 1 << 30;
    private static final Options DEFAULT = new Options(64 << 20, 64 << 20, Duration.ZERO, InstantSource.system());

    /** Checks the options. */
    public Options {
      if (segmentBytes < MIN_SEGMENT_BYTES || segmentBytes > MAX_SEGMENT_BYTES)
        throw new IllegalArgumentException(
            "a segment of " + segmentBytes + " bytes; give " + MIN_SEGMENT_BYTES + " to " + MAX_SEGMENT_BYTES);
      WriteInbox.checkMaxPendingBytes(maxPendingBytes);
      Objects.requireNonNull(clock, "clock");
      if (Objects.requireNonNull(syncInterval, "syncInterval").isNegative())
        throw new IllegalArgumentException(
            "a sync interval of " + Durations.text(syncInterval) + "; give zero or more");
    }

    /**
     * Sets the size of each file of the log.
     *
     * @param bytes by default 64 MiB; a turn must fit into a file, and is at most 16 MiB
     * @return a changed copy
     */
    public Options withSegmentBytes(int bytes) {
      return new Options(bytes, maxPendingBytes, syncInterval, clock);
    }

    /**
     * Sets the size of the turns that may wait to be stored.
     *
     * @param bytes by default 64 MiB; a turn must fit into it
     * @return a changed copy
     */
    public Options withMaxPendingBytes(int bytes) {
      return new Options(segmentBytes, bytes, syncInterval, clock);
    }

    /**
     * Counts turns as stored as soon as they are written, and syncs them to disk later. A loss of
     * power may then lose the last turns. The end of the process loses no turn.
     *
     * @param interval the maximum time between two syncs
     * @return a changed copy
     */
    public Options withSyncInterval(Duration interval) {
      return new Options(segmentBytes, maxPendingBytes, interval, clock);
    }

    /**
     * Sets the clock that decides when messages are due.
     *
     * @param clock by default the clock of the system
     * @return a changed copy
     */
    public Options withClock(InstantSource clock) {
      return new Options(segmentBytes, maxPendingBytes, syncInterval, Objects.requireNonNull(clock, "clock"));
    }
  }
}
