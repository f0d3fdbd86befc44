package io.fibry.store.folder;

import io.fibry.store.Store;
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
 * stored survive the end of the process, and the loss of power if the disk keeps its promises.
 * Thread-safe.
 *
 * <p>One thread writes all that waits and then forces it to disk, so the more actors are at work,
 * the less a turn costs. Damage is found out by checksums: a store never opens as if it were whole.
 */
public abstract sealed class FolderStore implements Store permits LogStore {

  FolderStore() {}

  /**
   * Opens a store, or makes one.
   *
   * @param folder where it is; made if there is none
   * @return the store; close it
   * @throws io.fibry.store.StoreInUseException if it is open
   * @throws io.fibry.store.StoreDamagedException if something is missing, or not as it was stored
   * @throws UncheckedIOException if the folder cannot be read or written
   */
  public static FolderStore open(Path folder) {
    return open(folder, options -> options);
  }

  /**
   * Opens a folder with options.
   *
   * @param folder where it is; made if there is none
   * @param options changes the usual ones
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
   * Opens a store on a disk of your own, which may encrypt, or fail on purpose.
   *
   * @param disk the files; closed with the store, or if this fails
   * @param options changes the usual ones
   * @return the store; close it
   */
  public static FolderStore open(StorageDirectory disk, UnaryOperator<Options> options) {
    Objects.requireNonNull(disk, "disk");
    try {
      var known = Objects.requireNonNull(options, "options").apply(Options.DEFAULT);
      return LogStore.open(disk, Objects.requireNonNull(known, "what options answers"));
    } catch (IOException failure) {
      throw closed(disk,
          new UncheckedIOException(disk + " cannot be opened as a store: " + Lines.thrown(failure), failure));
    } catch (RuntimeException failure) {
      throw closed(disk, failure);
    } catch (Error failure) {
      throw closed(disk, failure);
    }
  }

  /**
   * Reads all files of a store that is not open, and compares them with their checksums. It changes
   * nothing.
   *
   * @param folder where the store is
   * @return the store's content, and its faults
   * @throws io.fibry.store.StoreInUseException if it is open
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
   * Writes all that is whole in a damaged store to a new one. The damaged one is not changed. A
   * turn behind a missing turn is left out, with the messages that it has done and sends, unless a
   * later turn has the whole state.
   *
   * @param folder where the damaged store is; it is not open
   * @param to an empty folder; made if there is none
   * @return what was wrong, and what is lost
   * @throws io.fibry.store.StoreInUseException if one of them is open
   * @throws IllegalArgumentException if the other folder is not empty
   * @throws UncheckedIOException if the files cannot be read, or written
   */
  public static StoreCheck salvage(Path folder, Path to) {
    Objects.requireNonNull(folder, "folder");
    Objects.requireNonNull(to, "to");
    try (var disk = FileDisk.openReadOnly(folder); var target = FileDisk.open(to)) {
      return LogSalvage.run(disk, target);
    } catch (IOException failure) {
      throw new UncheckedIOException(
          "what is whole in " + folder + " cannot be written to " + to + ": " + Lines.thrown(failure),
          failure);
    }
  }

  private static <X extends Throwable> X closed(StorageDirectory disk, X failure) {
    try {
      disk.close();
    } catch (IOException again) {
      failure.addSuppressed(again);
    }
    return failure;
  }

  /**
   * How it is. This never waits for the disk, and visits all actors that live, or for which
   * messages wait.
   *
   * @return counts and flags; also for a closed store
   */
  public abstract Health health();

  /**
   * Copies the store while it is at work. The copy is of one moment: it has all that was answered
   * before this was called, and whole turns only. No file is replaced meanwhile.
   *
   * @param folder an empty one; made if there is none. It does not open as a store until it is
   *     complete
   * @throws IllegalArgumentException if it is not empty
   * @throws io.fibry.store.StoreDamagedException if a file is not as it was written
   * @throws io.fibry.store.StoreClosedException if the store is closed, also meanwhile
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
   * @param to has no files; stays open
   */
  public abstract void backup(StorageDirectory to);

  /**
   * How a store is.
   *
   * @param turns stored since it was opened
   * @param refusedTurns turns and messages that were not stored since the opening, for any reason
   * @param pendingWrites turns and messages that are being stored
   * @param actors of which something is stored
   * @param pendingMessages messages that are stored and not handled yet, and reminders
   * @param parkedMessages messages that were parked, for a human
   * @param bytes of its files
   * @param syncs of the log to the disk, since it was opened
   * @param isFull the next file of the log could not be made. It takes neither new actors nor
   * messages to keep, and no turns once the file before is full. It tries again each second
   * @param isBroken the disk failed in a way after which nobody knows what is on it. It takes
   * nothing more: close it, see to the disk, and open it again
   * @param tornFiles files with the end of the log, if it was not whole when it was opened: a
   * commit that a crash cut off, which no sender was told. It may also be a commit right before the
   * crash that was damaged afterwards, as {@link StoreCheck} explains at {@code doubt}
   */
  public record Health(long turns, long refusedTurns, long pendingWrites, long actors, long pendingMessages,
      long parkedMessages, long bytes,
      Syncs syncs, boolean isFull, boolean isBroken, List<String> tornFiles) {}

  /**
   * How the disk takes what is written.
   *
   * @param count how often it was forced
   * @param total how long that took
   * @param last how long the last force took, or zero if there was none
   */
  public record Syncs(long count, Duration total, Duration last) {
    static final Syncs NONE = new Syncs(0, Duration.ZERO, Duration.ZERO);

    Syncs plus(long nanos) {
      var last = Duration.ofNanos(nanos);
      return new Syncs(count + 1, total.plus(last), last);
    }
  }

  /**
   * Options of a store. Immutable.
   *
   * @param segmentBytes bytes of a file of the log
   * @param maxPendingBytes bytes of turns that may wait to be stored: further senders wait
   * @param syncInterval how often written bytes are forced to disk; zero forces them before they
   * count as stored
   * @param clock says when messages are due
   */
  public record Options(int segmentBytes, int maxPendingBytes, Duration syncInterval, InstantSource clock) {
    private static final int MIN_SEGMENT_BYTES = 4096;
    private static final int MAX_SEGMENT_BYTES = 1 << 30;
    private static final Options DEFAULT = new Options(64 << 20, 64 << 20, Duration.ZERO, InstantSource.system());

    /** Checks them. */
    public Options {
      if (segmentBytes < MIN_SEGMENT_BYTES || segmentBytes > MAX_SEGMENT_BYTES)
        throw new IllegalArgumentException(
            "a segment of " + segmentBytes + " bytes; give " + MIN_SEGMENT_BYTES + " to " + MAX_SEGMENT_BYTES);
      if (maxPendingBytes < MIN_SEGMENT_BYTES)
        throw new IllegalArgumentException(
            "room for " + maxPendingBytes + " bytes; give " + MIN_SEGMENT_BYTES + " or more");
      Objects.requireNonNull(clock, "clock");
      if (Objects.requireNonNull(syncInterval, "syncInterval").isNegative())
        throw new IllegalArgumentException("a pause of " + syncInterval + "; give zero or more");
    }

    /**
     * The size of files.
     *
     * @param bytes by default 64 MiB; a turn must fit into it, and has at most 16 MiB
     * @return a changed copy
     */
    public Options withSegmentBytes(int bytes) {
      return new Options(bytes, maxPendingBytes, syncInterval, clock);
    }

    /**
     * Sets the room for turns that wait to be stored.
     *
     * @param bytes by default 64 MiB; a turn must fit into it
     * @return a changed copy
     */
    public Options withMaxPendingBytes(int bytes) {
      return new Options(segmentBytes, bytes, syncInterval, clock);
    }

    /**
     * Counts turns as stored once they are written, and forces them to disk now and then: a loss of
     * power may take the last ones with it. An end of the process does not.
     *
     * @param longest how much may be lost
     * @return a changed copy
     */
    public Options withSyncInterval(Duration longest) {
      return new Options(segmentBytes, maxPendingBytes, longest, clock);
    }

    /**
     * The clock that says when messages are due.
     *
     * @param time by default the clock of the system
     * @return a changed copy
     */
    public Options withClock(InstantSource time) {
      return new Options(segmentBytes, maxPendingBytes, syncInterval, Objects.requireNonNull(time, "clock"));
    }
  }
}
