package io.fibry.store.folder.index;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.folder.log.LogRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Compares a stripe of the index (a table of numbers) with a model of it (a map of objects). */
class IndexStripeTest {
  private static final int ACTORS = 300;
  private static final int STEPS = 200_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final IndexStripe stripe = new IndexStripe(8);
  private final Map<Integer, List<Long>> model = new HashMap<>(); // positions of the live records of each actor
  private final Map<Integer, Long> lastTurns = new HashMap<>();
  private final Map<Integer, Long> firstLiveTurns = new HashMap<>();
  private long lastOffset;

  @Test
  void stripeMatchesMapModelAfterRandomSteps() {
    System.out.println("stripe: -Dfibry.seed=" + seed);
    for (int step = 0; step < STEPS; step++) {
      int actor = random.nextInt(1 + random.nextInt(ACTORS)); // some actors are chosen often
      if (random.nextInt(8) == 0) check(actor);
      else if (!model.isEmpty() && random.nextInt(500) == 0) move();
      else if (random.nextInt(4) == 0) snapshot(actor);
      else add(actor, random.nextInt(3) == 0, random.nextBoolean());
    }
    for (int actor = 0; actor < ACTORS; actor++) check(actor);

    long[] sums = new long[4];
    stripe.addCounts(sums, Instant.EPOCH);
    assertArrayEquals(new long[] {model.size(), 0, 0, 0}, sums, "seed " + seed);
    assertTrue(stripe.expanded().isEmpty());
  }

  @Test
  void stripeTooSmallToGrowIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class, () -> new IndexStripe(3));
    assertEquals("3 slots cannot grow by a quarter; give 4 or more", failure.getMessage());
    var smallest = new IndexStripe(4);
    for (int actor = 1; actor <= ACTORS; actor++)
      assertTrue(smallest.addTurn(actor, -1, 1, LogRecord.RecordType.TURN, ActorLocation.packPosition(1, actor)));

    assertEquals(LongStream.rangeClosed(1, ACTORS).boxed().toList(),
        smallest.knownActors().compact().stream().map(location -> location.fingerprint().high()).toList());
  }

  /** Returns a fingerprint. Many fingerprints are neighbors in the table, also around its end. */
  private static ActorFingerprint fingerprint(int actor) {
    return new ActorFingerprint(actor, (long) (actor % 7) << 61 | actor);
  }

  private void update(int actor, Consumer<ActorLocation> use) {
    stripe.compact(stripe.expand(fingerprint(actor), new Store.ActorId("a", "" + actor), location -> {
      use.accept(location);
      return location;
    }));
  }

  private void add(int actor, boolean isFullState, boolean isOpening) {
    long number = lastTurns.merge(actor, 1L, Long::sum);
    long position = ActorLocation.packPosition(1, (int) ++lastOffset);
    var type = isFullState ? LogRecord.RecordType.FULL_STATE : LogRecord.RecordType.TURN;
    if (!isOpening || !stripe.addTurn(fingerprint(actor).high(), fingerprint(actor).low(), number, type, position))
      update(actor, location -> location.add(number, type, 1, (int) lastOffset));
    var positions = model.computeIfAbsent(actor, k -> new ArrayList<>());
    if (isFullState) {
      positions.clear();
      firstLiveTurns.put(actor, number);
    }
    positions.add(position);
  }

  private void snapshot(int actor) {
    if (!model.containsKey(actor)) return;
    long position = ActorLocation.packPosition(1, (int) ++lastOffset);
    update(actor, location -> location.add(lastTurns.get(actor), LogRecord.RecordType.SNAPSHOT, 1, (int) lastOffset));
    model.put(actor, new ArrayList<>(List.of(position)));
  }

  /**
   * Moves all records at and after a random position. The new position of a record may be the old
   * position of another record.
   */
  private void move() {
    var positions = model.values().stream().flatMap(List::stream).sorted().toList();
    var moved = new HashMap<Long, Long>();
    var moves = new Relocations(1, 1);
    int begin = random.nextInt(positions.size());
    int offset = positions.get(begin).intValue() + random.nextInt(50);
    for (long position : positions.subList(begin, positions.size())) {
      moved.put(position, ActorLocation.packPosition(1, offset));
      moves.add(position, List.of(), offset++);
    }
    lastOffset = Math.max(lastOffset, offset);
    model.values().forEach(ofActor -> ofActor.replaceAll(position -> moved.getOrDefault(position, position)));
    stripe.move(moves);
  }

  private void check(int actor) {
    update(actor, location -> {
      assertEquals(model.getOrDefault(actor, List.of()), boxed(location.positions()), "seed " + seed);
      assertEquals(lastTurns.getOrDefault(actor, 0L), location.lastTurn(), "seed " + seed);
    });
    for (long position : model.getOrDefault(actor, List.of()))
      assertTrue(stripe.isLive(fingerprint(actor), 0, LogRecord.RecordType.SNAPSHOT, position, false), "seed " + seed);
    long begin = firstLiveTurns.getOrDefault(actor, 0L);
    if (!model.containsKey(actor)) return;
    assertTrue(stripe.isLive(fingerprint(actor), begin, LogRecord.RecordType.TURN, -1, false), "seed " + seed);
    assertTrue(!stripe.isLive(fingerprint(actor), begin - 1, LogRecord.RecordType.TURN, -1, false), "seed " + seed);
  }

  private static List<Long> boxed(long[] all) {
    var list = new ArrayList<Long>();
    for (long number : all) list.add(number);
    return list;
  }
}
