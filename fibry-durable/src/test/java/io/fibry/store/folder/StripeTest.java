package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A table of numbers, beside a map of objects. */
class StripeTest {
  private static final int ACTORS = 300;
  private static final int STEPS = 200_000;

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final IndexStripe stripe = new IndexStripe(8);
  private final Map<Integer, List<Long>> model = new HashMap<>(); // places
  private final Map<Integer, Long> last = new HashMap<>();
  private final Map<Integer, Long> first = new HashMap<>();
  private long places;

  @Test
  void stripeMatchesMapModel() {
    System.out.println("stripe: -Dfibry.seed=" + seed);
    for (int step = 0; step < STEPS; step++) {
      int actor = random.nextInt(1 + random.nextInt(ACTORS)); // some often
      if (random.nextInt(8) == 0) check(actor);
      else if (!model.isEmpty() && random.nextInt(500) == 0) move();
      else if (random.nextInt(4) == 0) snapshot(actor);
      else add(actor, random.nextInt(3) == 0, random.nextBoolean());
    }
    for (int actor = 0; actor < ACTORS; actor++) check(actor);

    long[] sums = new long[3];
    stripe.count(sums);
    assertArrayEquals(new long[] {model.size(), 0, 0}, sums, "seed " + seed);
    assertTrue(stripe.expanded().isEmpty());
  }

  @Test
  void stripeTooSmallToGrowIsRefused() {
    var failure = assertThrows(IllegalArgumentException.class, () -> new IndexStripe(3));
    assertEquals("3 slots cannot grow by a quarter; give 4 or more", failure.getMessage());
    var least = new IndexStripe(4);
    for (int actor = 1; actor <= ACTORS; actor++)
      assertTrue(least.addTurn(actor, -1, 1, LogRecord.RecordType.TURN, ActorLocation.packPosition(1, actor)));

    assertEquals(LongStream.rangeClosed(1, ACTORS).boxed().toList(),
        least.knownActors().compact().stream().map(one -> one.fingerprint().high()).toList());
  }

  /** Many have neighbors in the table, and some lie across its end. */
  private static Fingerprint print(int actor) {
    return new Fingerprint(actor, (long) (actor % 7) << 61 | actor);
  }

  private void wake(int actor, Consumer<ActorLocation> use) {
    stripe.compact(stripe.expand(print(actor), new Store.ActorId("a", "" + actor), where -> {
      use.accept(where);
      return where;
    }));
  }

  private void add(int actor, boolean whole, boolean opening) {
    long number = last.merge(actor, 1L, Long::sum);
    long place = ActorLocation.packPosition(1, (int) ++places);
    var type = whole ? LogRecord.RecordType.FULL_STATE : LogRecord.RecordType.TURN;
    if (!opening || !stripe.addTurn(print(actor).high(), print(actor).low(), number, type, place))
      wake(actor, where -> where.add(number, type, 1, (int) places));
    var all = model.computeIfAbsent(actor, none -> new ArrayList<>());
    if (whole) {
      all.clear();
      first.put(actor, number);
    }
    all.add(place);
  }

  private void snapshot(int actor) {
    if (!model.containsKey(actor)) return;
    long place = ActorLocation.packPosition(1, (int) ++places);
    wake(actor, where -> where.add(last.get(actor), LogRecord.RecordType.SNAPSHOT, 1, (int) places));
    model.put(actor, new ArrayList<>(List.of(place)));
  }

  /** All from one on, so that new places look like old ones, of the same actor or another. */
  private void move() {
    var all = model.values().stream().flatMap(List::stream).sorted().toList();
    var moved = new HashMap<Long, Long>();
    var moves = new Relocations(1, 1);
    int begin = random.nextInt(all.size());
    int offset = all.get(begin).intValue() + random.nextInt(50);
    for (long place : all.subList(begin, all.size())) {
      moved.put(place, ActorLocation.packPosition(1, offset));
      moves.add(place, List.of(), offset++);
    }
    places = Math.max(places, offset);
    model.values().forEach(of -> of.replaceAll(place -> moved.getOrDefault(place, place)));
    stripe.move(moves);
  }

  private void check(int actor) {
    wake(actor, where -> {
      assertEquals(model.getOrDefault(actor, List.of()), boxed(where.positions()), "seed " + seed);
      assertEquals(last.getOrDefault(actor, 0L), where.lastTurn(), "seed " + seed);
    });
    for (long place : model.getOrDefault(actor, List.of()))
      assertTrue(stripe.isLive(print(actor), 0, LogRecord.RecordType.SNAPSHOT, place, false), "seed " + seed);
    long begin = first.getOrDefault(actor, 0L);
    if (!model.containsKey(actor)) return;
    assertTrue(stripe.isLive(print(actor), begin, LogRecord.RecordType.TURN, -1, false), "seed " + seed);
    assertTrue(!stripe.isLive(print(actor), begin - 1, LogRecord.RecordType.TURN, -1, false), "seed " + seed);
  }

  private static List<Long> boxed(long[] all) {
    var list = new ArrayList<Long>();
    for (long one : all) list.add(one);
    return list;
  }
}
