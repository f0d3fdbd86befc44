package io.fibry.store.folder;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.durable.Ledgers;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Checks {@link Ledgers} in a folder. Again and again, the power is cut, the process is killed, or
 * an operation of the disk fails. A new store opens the files that remain after each fault. Its
 * clock is an hour behind the clock of the previous store.
 */
class LedgersInFolderTest {
  private static final int PROCESSES = Soak.ON ? 1_000 : 30;
  private static final int MAX_ANSWERS = 100; // before the fault
  private static final int MAX_STEPS = 30; // of the disk before the fault
  private static final Duration IDLE = Duration.ofMinutes(5);
  private static final int SEGMENT_BYTES = 16 * 1024; // small, so that segments are compacted

  private enum Fault {
    POWER_CUT, KILL, FAILED_OPERATION
  }

  /** A process that has opened the files of a disk, and serves the ledgers until a fault. */
  private static final class SimulatedProcess {
    private final CrashDisk disk;
    private final ActorScope scope = ActorSystem.openScope("ledgers");
    private final FolderStore store;
    private final Ledgers.Addresses addresses;
    private volatile CrashDisk remaining; // the disk as the fault has left it; null before the fault

    SimulatedProcess(CrashDisk disk, int hoursBehind) {
      this.disk = disk;
      InstantSource clock = () -> InstantSource.system().instant().minus(Duration.ofHours(hoursBehind));
      store = FolderStore.open(disk, options -> options.withSegmentBytes(SEGMENT_BYTES).withClock(clock));
      addresses = new Ledgers.Addresses(Ledgers.kind("folder").entities(scope.anonymous(), store, IDLE),
          Ledgers.inboxKind("folder").entities(scope.anonymous(), store, IDLE));
    }

    /** Plans the fault for a random step of the disk. Each later operation of the disk fails. */
    void plan(Fault fault, SplittableRandom random) {
      long seed = random.nextLong();
      int[] steps = {random.nextInt(MAX_STEPS)};
      disk.afterOperation(() -> {
        if (remaining == null && --steps[0] < 0 && fault != Fault.FAILED_OPERATION)
          remaining = fault == Fault.POWER_CUT ? disk.cutPower(seed) : disk.copy();
      });
      disk.beforeOperation(operation -> {
        if (remaining == null && fault == Fault.FAILED_OPERATION && --steps[0] < 0) remaining = disk.copy();
        if (remaining != null) throw new UncheckedIOException(new IOException("planned, before " + operation));
      });
    }

    void close() {
      scope.close();
      try {
        store.close();
      } catch (RuntimeException failure) {
        if (remaining == null) throw failure;
      }
    }
  }

  private volatile SimulatedProcess process = new SimulatedProcess(CrashDisk.empty(), 0);

  @Test
  void ledgersMatchAnswersDespiteDiskAndProcessFaults() throws InterruptedException {
    try (var ledgers = new Ledgers(() -> process.addresses)) {
      var random = new SplittableRandom(ledgers.seed());
      for (int i = 0; i < PROCESSES; i++) {
        ledgers.awaitMore(1 + random.nextInt(MAX_ANSWERS));
        var failing = process;
        failing.plan(Fault.values()[random.nextInt(Fault.values().length)], random);
        ledgers.await("the fault", () -> failing.remaining != null);
        failing.close();
        process = new SimulatedProcess(failing.remaining, i + 1);
      }
      ledgers.awaitMore(MAX_ANSWERS);

      ledgers.check(process.store);
      System.out.println(ledgers);
    } finally {
      process.close();
    }
  }
}
