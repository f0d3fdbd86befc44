package io.fibry.nats;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.GRACE;
import static io.fibry.durable.Turning.append;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.durable.Histories;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A history that is read page by page, while turns that a whole one replaced leave the stream, or a
 * replica that is behind answers. The turns of another actor are all there.
 */
class StalePagesTest extends StreamFixture {
  private static final String KIND = ADA.kind();
  private static final int REPLACED = 20;
  private static final int WHOLE = 64; // as many messages as make the store purge

  private final long life = store.load(ADA).life();
  private final long ofGrace = store.load(GRACE).life();

  /** Each is a message; the first two say that lives have begun. */
  @BeforeEach
  void writeTurns() {
    append(store, turn(GRACE, ofGrace, 1));
    for (int i = 1; i <= REPLACED; i++) {
      append(store, turn(ADA, life, i));
      if (i == REPLACED / 2) append(store, turn(GRACE, ofGrace, 2));
    }
    append(store, turn(GRACE, ofGrace, 3));
  }

  /** The last whole turn and the one behind it stay. */
  private void replace() {
    for (int i = 1; i <= WHOLE; i++) append(store, turn(ADA, life, REPLACED + i, true, (byte) i));
    append(store, turn(ADA, life, REPLACED + WHOLE + 1));
    store.endLife(ADA, life);
    Patience.eventually(() -> messages(subjects.turns(ADA)) == 2);
  }

  private static List<Long> numbers(Store.ActorId id, List<Store.StoredTurn> turns) {
    return turns.stream().filter(turn -> turn.key().equals(id.key())).map(Store.StoredTurn::number).toList();
  }

  private void checkReplacedFrom(int missing, List<Store.StoredTurn> turns) {
    Histories.check(KIND, turns);
    long last = REPLACED + WHOLE + 1;
    assertEquals(LongStream.concat(LongStream.range(1, missing), LongStream.of(last - 1, last)).boxed().toList(),
        numbers(ADA, turns));
    assertEquals(List.of(1L, 2L, 3L), numbers(GRACE, turns));
  }

  @Test
  void purgeBetweenPagesOmitsOnlyReplacedTurns() throws Exception {
    faulty.limitPages(1);
    faulty.beforePage(9, this::replace);

    checkReplacedFrom(6, Histories.read(store, KIND));
    checkReplacedFrom(1, Histories.check(store, KIND));
  }

  @Test
  void staleReplicaMayReturnPurgedTurns() throws Exception {
    faulty.freezePages(subjects.turnsFilter(KIND));
    replace();

    checkReplacedFrom(REPLACED + 1, Histories.read(store, KIND)); // the leader is asked for the rest
  }

  @Test
  void replicaCatchingUpBetweenPagesOmitsOnlyReplacedTurns() throws Exception {
    faulty.freezePages(subjects.turnsFilter(KIND));
    replace();
    faulty.limitPages(10);
    faulty.beforePage(2, faulty::thawPages);

    checkReplacedFrom(8, Histories.read(store, KIND));
  }
}
