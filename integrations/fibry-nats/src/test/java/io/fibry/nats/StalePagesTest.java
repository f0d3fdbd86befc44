package io.fibry.nats;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.GRACE;
import static io.fibry.durable.TestTurns.append;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.durable.Histories;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests histories that are read page by page while replaced turns are purged, or while a replica
 * that is behind answers. All turns of another actor must be read.
 */
class StalePagesTest extends StreamFixture {
  private static final String KIND = ADA.kind();
  private static final int REPLACED_TURNS = 20;
  private static final int WHOLE_TURNS = 64; // enough messages to make the store purge

  private final long life = store.load(ADA).life();
  private final long lifeOfGrace = store.load(GRACE).life();

  /** Each turn is one message of the stream. Two earlier messages begin the lives of the actors. */
  @BeforeEach
  void writeTurns() {
    append(store, turn(GRACE, lifeOfGrace, 1));
    for (int i = 1; i <= REPLACED_TURNS; i++) {
      append(store, turn(ADA, life, i));
      if (i == REPLACED_TURNS / 2) append(store, turn(GRACE, lifeOfGrace, 2));
    }
    append(store, turn(GRACE, lifeOfGrace, 3));
  }

  /**
   * Stores whole turns, and one more turn. Waits until the store has only the last whole turn and
   * the turn after it.
   */
  private void replaceTurns() {
    for (int i = 1; i <= WHOLE_TURNS; i++) append(store, turn(ADA, life, REPLACED_TURNS + i, true, (byte) i));
    append(store, turn(ADA, life, REPLACED_TURNS + WHOLE_TURNS + 1));
    store.endLife(ADA, life);
    Patience.eventually(() -> countMessages(subjects.turns(ADA)) == 2);
  }

  private static List<Long> numbers(Store.ActorId id, List<StoreBackend.StoredTurn> turns) {
    return turns.stream().filter(turn -> turn.key().equals(id.key())).map(StoreBackend.StoredTurn::number).toList();
  }

  private void checkPurgedFrom(int firstMissing, List<StoreBackend.StoredTurn> turns) {
    Histories.check(KIND, turns);
    long lastNumber = REPLACED_TURNS + WHOLE_TURNS + 1;
    assertEquals(LongStream.concat(LongStream.range(1, firstMissing), LongStream.of(lastNumber - 1, lastNumber))
        .boxed().toList(), numbers(ADA, turns));
    assertEquals(List.of(1L, 2L, 3L), numbers(GRACE, turns));
  }

  @Test
  void historyOmitsOnlyReplacedTurnsWhenPurgedBetweenPages() throws Exception {
    faulty.limitPages(1);
    faulty.runBeforePage(9, this::replaceTurns);

    checkPurgedFrom(6, Histories.read(store, KIND));
    checkPurgedFrom(1, Histories.check(store, KIND));
  }

  @Test
  void staleReplicaMayReturnPurgedTurns() throws Exception {
    faulty.freezePages(subjects.turnsFilter(KIND));
    replaceTurns();

    checkPurgedFrom(REPLACED_TURNS + 1, Histories.read(store, KIND)); // the leader has the later turns
  }

  @Test
  void historyOmitsOnlyReplacedTurnsWhenReplicaCatchesUp() throws Exception {
    faulty.freezePages(subjects.turnsFilter(KIND));
    replaceTurns();
    faulty.limitPages(10);
    faulty.runBeforePage(2, faulty::thawPages);

    checkPurgedFrom(8, Histories.read(store, KIND));
  }
}
