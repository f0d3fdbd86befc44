package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.support.Soak;
import io.fibry.test.CrashDisk;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Random turns and messages, with a power cut at every operation of the disk. The store has a state
 * of some moment at or after the last acknowledged turn: states and messages of the same moment.
 */
class StorePowerCutTest {
  private static final int STEPS = Soak.ON ? 200 : 100;
  private static final int IMAGES = Soak.ON ? 24 : 4; // of a moment; each opens two stores
  private static final int FLIPS = Soak.ON ? 1_000 : 150;
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(4096);

  private static final List<Store.ActorId> ACTORS =
      Stream.of("ada", "grace", "barbara").map(key -> new Store.ActorId("account", key)).toList();

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final List<String> moments = new ArrayList<>(); // all that is stored, after each step
  private boolean forcesEach = true; // turn; otherwise what is told may be lost
  private volatile int told; // the moment that was told last, and is not lost
  private volatile Throwable failure;
  private long images;

  /** The expected content after some steps. */
  private static final class Model {
    private final Map<Store.ActorId, List<String>> bodies = new HashMap<>();
    private final Map<Store.ActorId, Long> last = new HashMap<>();
    private final Map<Store.ActorId, Map<String, String>> waiting = new HashMap<>();

    void accept(Store.PendingMessage message) {
      var all = waiting.computeIfAbsent(message.to(), none -> new LinkedHashMap<>());
      all.remove(message.id());
      all.put(message.id(), text(message));
    }

    void append(Store.Turn turn) {
      var all = bodies.computeIfAbsent(turn.actor(), none -> new ArrayList<>());
      if (turn.isFullState()) all.clear();
      all.add(new String(turn.body()));
      last.put(turn.actor(), turn.number());
      waiting.getOrDefault(turn.actor(), Map.of()).keySet().removeAll(turn.handledIds());
      turn.outbox().forEach(this::accept);
    }

    String content() {
      return ACTORS.stream().map(actor -> actor + " " + last.getOrDefault(actor, 0L) + " "
          + bodies.getOrDefault(actor, List.of()) + " " + waiting.getOrDefault(actor, Map.of()).values() + "\n")
          .collect(Collectors.joining());
    }
  }

  private static String text(Store.PendingMessage message) {
    return message.id() + "@" + message.due().toEpochMilli() + "=" + new String(message.body());
  }

  private static String content(Store store) {
    return ACTORS.stream().map(actor -> {
      var loaded = store.load(actor);
      return actor + " " + loaded.lastTurn() + " " + loaded.bodies().stream().map(String::new).toList() + " "
          + store.pending(actor, Instant.MAX, 99).stream().map(StorePowerCutTest::text).toList() + "\n";
    }).collect(Collectors.joining());
  }

  /** A turn, or a message. */
  private record Step(Store.Turn turn, Store.PendingMessage message) {
    void run(Model model) {
      if (turn == null) model.accept(message);
      else model.append(turn);
    }

    void run(Store store) throws Exception {
      (turn == null ? store.enqueue(message, 99) : store.append(turn)).toCompletableFuture().get();
    }
  }

  @Test
  void stateAndMessagesAreConsistentAfterPowerCut() throws Exception {
    run(SMALL);
  }

  @Test
  void stateAndMessagesAreConsistentBetweenSyncs() throws Exception {
    forcesEach = false;
    run(options -> SMALL.apply(options).withSyncInterval(Duration.ofDays(1)));
  }

  private void run(UnaryOperator<FolderStore.Options> options) throws Exception {
    var disk = CrashDisk.empty();
    var model = new Model();
    moments.add(model.content());
    try (var store = FolderStore.open(disk, options)) {
      var steps = steps(ACTORS.stream().map(actor -> store.load(actor).life()).toList());
      disk.afterOperation(() -> check(disk));
      for (var step : steps) {
        step.run(model);
        synchronized (moments) {
          moments.add(model.content());
        }
        step.run(store);
        if (forcesEach) told = moments.size() - 1;
      }
      disk.afterOperation(() -> {});
    }

    if (failure != null) throw new AssertionError("seed " + seed, failure);
    assertTrue(images > 500, images + " images");
  }

  @Test
  void aFlippedBitOfACompactStoreIsFoundOut() throws Exception {
    var disk = CrashDisk.empty();
    var model = new Model();
    try (var store = FolderStore.open(disk, SMALL)) {
      for (var step : steps(ACTORS.stream().map(actor -> store.load(actor).life()).toList())) {
        step.run(model);
        step.run(store);
      }
    }
    int found = 0;
    for (int i = 0; i < FLIPS; i++) {
      var damaged = disk.copy();
      String name = damaged.names().get(random.nextInt(damaged.names().size()));
      damaged.flipBit(name, random.nextLong(8 * damaged.size(name)));
      try (var store = FolderStore.open(damaged, SMALL)) {
        assertEquals(model.content(), content(store), "seed " + seed);
      } catch (StoreDamagedException known) {
        found++;
      }
    }
    assertTrue(found > FLIPS / 2, found + " of " + FLIPS);
  }

  private List<Step> steps(List<Long> lives) {
    var steps = new ArrayList<Step>();
    long[] numbers = new long[ACTORS.size()];
    for (int i = 0; i < STEPS; i++) {
      int actor = random.nextInt(ACTORS.size());
      String text = i + ":" + "x".repeat(random.nextInt(4) == 0 ? random.nextInt(900) : random.nextInt(40));
      if (random.nextInt(3) == 0) steps.add(new Step(null, message(text)));
      else {
        var done = random.ints(random.nextInt(3), 0, 6).mapToObj(id -> "m" + id).toList();
        var sends = Stream.generate(() -> message(text)).limit(random.nextInt(3)).toList();
        steps.add(new Step(new Store.Turn(ACTORS.get(actor), lives.get(actor), ++numbers[actor], Instant.EPOCH,
            random.nextInt(3) == 0, text.getBytes(), done, sends), null));
      }
    }
    return steps;
  }

  private Store.PendingMessage message(String text) {
    return new Store.PendingMessage(ACTORS.get(random.nextInt(ACTORS.size())), "m" + random.nextInt(6),
        Instant.ofEpochMilli(random.nextInt(100)), ("to " + text).getBytes());
  }

  private void check(CrashDisk disk) {
    if (failure != null) return;
    try {
      disk.forEachCrashState(IMAGES, seed + images, this::checkImage);
    } catch (Throwable found) {
      failure = found;
    }
  }

  private void checkImage(CrashDisk image) {
    images++;
    int least = told;
    String found;
    try (var store = FolderStore.open(image, SMALL)) {
      found = content(store);
    }
    try (var again = FolderStore.open(image, SMALL)) {
      assertEquals(found, content(again));
    }
    synchronized (moments) {
      assertTrue(moments.subList(least, moments.size()).contains(found),
          () -> "told " + least + " of " + moments.size() + ", found\n" + found + "expected one of\n"
              + String.join("\n", moments.subList(least, moments.size())));
    }
  }
}
