package io.fibry.store.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.spi.StoreBackend.StoredTurn;
import io.fibry.store.StoreClosedException;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Tests how the reader of a {@link HistoryCursor} waits. */
class HistoryCursorTest {
  private static final List<StoredTurn> TURNS =
      List.of(new StoredTurn("1", "ada", 1, Instant.EPOCH, false, new byte[0]));

  private final List<HistoryCursor> openCursors = new CopyOnWriteArrayList<>();

  /** Finds no turns until its last read. */
  private final class CountingCursor extends HistoryCursor {
    private final long[] readTimes;
    private int reads;

    CountingCursor(int reads, Duration maxPause) {
      super("the history", openCursors, maxPause);
      readTimes = new long[reads];
      openCursors.add(this);
    }

    @Override
    public List<StoredTurn> poll() {
      checkOpen();
      readTimes[reads++] = System.nanoTime();
      return reads < readTimes.length ? List.of() : TURNS;
    }
  }

  @Test
  void readerPausesBetweenPollsThatFindNoTurns() throws Exception {
    var cursor = new CountingCursor(200, Duration.ofMillis(1));

    assertEquals(TURNS, cursor.take());

    long lastPolls = cursor.readTimes[199] - cursor.readTimes[99];
    assertTrue(lastPolls >= Duration.ofMillis(100).toNanos(), "100 polls in " + lastPolls + " ns");
  }

  @Test
  void wakeDuringReadIsNotLost() throws Exception {
    var cursor = new HistoryCursor("the history", openCursors) {
      private int reads;

      @Override
      public List<StoredTurn> poll() {
        reads++;
        if (reads == 1) wake();
        return reads == 1 ? List.of() : TURNS;
      }
    };

    assertEquals(TURNS, cursor.take());
  }

  @Test
  void closeEndsWaitAndRemovesCursor() throws Exception {
    var cursor = new HistoryCursor("the history", openCursors) {
      @Override
      public List<StoredTurn> poll() {
        checkOpen();
        return List.of();
      }
    };
    openCursors.add(cursor);

    var closer = Patience.startFiber(cursor::close);
    var failure = assertThrows(StoreClosedException.class, cursor::take);
    Patience.awaitEnd(closer);

    assertEquals("the history is closed", failure.getMessage());
    assertEquals(List.of(), openCursors);
  }
}
