package io.fibry.store.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.store.Store;
import io.fibry.store.StoreDamagedException;
import io.fibry.store.spi.StoreBackend;
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
 * Tests random turns and messages, with a power cut at every operation of the disk. The store then
 * has the states and messages of one moment, which is not before the last acknowledged turn.
 */
class StorePowerCutTest {
  private static final int STEPS = Soak.ON ? 200 : 100;
  // Disk images per power cut; a check of an image opens two stores
  private static final int MAX_IMAGES = Soak.ON ? 24 : 4;
  private static final int FLIPS = Soak.ON ? 1_000 : 150;
  private static final UnaryOperator<FolderStore.Options> SMALL = options -> options.withSegmentBytes(4096);

  private static final List<Store.ActorId> ACTORS =
      Stream.of("ada", "grace", "barbara").map(key -> new Store.ActorId("account", key)).toList();

  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final List<String> contents = new ArrayList<>(); // expected content of the store after each step
  private boolean syncsEachTurn = true; // if false, acknowledged turns may be lost
  private volatile int acknowledgedIndex; // index of the last acknowledged content, which must not be lost
  private volatile Throwable failure;
  private long images;

  /** The expected content after some steps. */
  private static final class Model {
    private final Map<Store.ActorId, List<String>> bodies = new HashMap<>();
    private final Map<Store.ActorId, Long> lastTurns = new HashMap<>();
    private final Map<Store.ActorId, Map<String, String>> pending = new HashMap<>();

    void accept(StoreBackend.PendingMessage message) {
      var messages = pending.computeIfAbsent(message.to(), absent -> new LinkedHashMap<>());
      messages.remove(message.id());
      messages.put(message.id(), text(message));
    }

    void append(StoreBackend.Turn turn) {
      var actorBodies = bodies.computeIfAbsent(turn.actor(), absent -> new ArrayList<>());
      if (turn.isFullState()) actorBodies.clear();
      actorBodies.add(new String(turn.body()));
      lastTurns.put(turn.actor(), turn.number());
      pending.getOrDefault(turn.actor(), Map.of()).keySet().removeAll(turn.handledIds());
      turn.outbox().forEach(this::accept);
    }

    String content() {
      return ACTORS.stream().map(actor -> actor + " " + lastTurns.getOrDefault(actor, 0L) + " "
          + bodies.getOrDefault(actor, List.of()) + " " + pending.getOrDefault(actor, Map.of()).values() + "\n")
          .collect(Collectors.joining());
    }
  }

  private static String text(StoreBackend.PendingMessage message) {
    return message.id() + "@" + message.due().toEpochMilli() + "=" + new String(message.body());
  }

  private static String content(StoreBackend store) {
    return ACTORS.stream().map(actor -> {
      var loaded = store.load(actor);
      return actor + " " + loaded.lastTurn() + " " + loaded.bodies().stream().map(String::new).toList() + " "
          + store.pending(actor, Instant.MAX, 99).stream().map(StorePowerCutTest::text).toList() + "\n";
    }).collect(Collectors.joining());
  }

  /** A turn, or a message. */
  private record Step(StoreBackend.Turn turn, StoreBackend.PendingMessage message) {
    void run(Model model) {
      if (turn == null) model.accept(message);
      else model.append(turn);
    }

    void run(StoreBackend store) throws Exception {
      (turn == null ? store.enqueue(message, 99) : store.append(turn)).toCompletableFuture().get();
    }
  }

  @Test
  void stateAndMessagesAreConsistentAfterPowerCut() throws Exception {
    run(SMALL);
  }

  @Test
  void stateAndMessagesAreConsistentAfterPowerCutBetweenSyncs() throws Exception {
    syncsEachTurn = false;
    run(options -> SMALL.apply(options).withSyncInterval(Duration.ofDays(1)));
  }

  private void run(UnaryOperator<FolderStore.Options> options) throws Exception {
    var disk = CrashDisk.empty();
    var model = new Model();
    contents.add(model.content());
    try (var store = StoreBackend.of(FolderStore.open(disk, options))) {
      var steps = steps(ACTORS.stream().map(actor -> store.load(actor).life()).toList());
      disk.afterOperation(() -> check(disk));
      for (var step : steps) {
        step.run(model);
        synchronized (contents) {
          contents.add(model.content());
        }
        step.run(store);
        if (syncsEachTurn) acknowledgedIndex = contents.size() - 1;
      }
      disk.afterOperation(() -> {});
    }

    if (failure != null) throw new AssertionError("seed " + seed, failure);
    assertTrue(images > 500, images + " images");
  }

  @Test
  void flippedBitIsDetectedOrHarmless() throws Exception {
    var disk = CrashDisk.empty();
    var model = new Model();
    try (var store = StoreBackend.of(FolderStore.open(disk, SMALL))) {
      for (var step : steps(ACTORS.stream().map(actor -> store.load(actor).life()).toList())) {
        step.run(model);
        step.run(store);
      }
    }
    int detected = 0;
    for (int i = 0; i < FLIPS; i++) {
      var damaged = disk.copy();
      String name = damaged.names().get(random.nextInt(damaged.names().size()));
      damaged.flipBit(name, random.nextLong(8 * damaged.size(name)));
      try (var store = StoreBackend.of(FolderStore.open(damaged, SMALL))) {
        assertEquals(model.content(), content(store), "seed " + seed);
      } catch (StoreDamagedException damage) {
        detected++;
      }
    }
    assertTrue(detected > FLIPS / 2, detected + " of " + FLIPS);
  }

  private List<Step> steps(List<Long> lives) {
    var steps = new ArrayList<Step>();
    long[] numbers = new long[ACTORS.size()];
    for (int i = 0; i < STEPS; i++) {
      int actor = random.nextInt(ACTORS.size());
      String text = i + ":" + "x".repeat(random.nextInt(4) == 0 ? random.nextInt(900) : random.nextInt(40));
      if (random.nextInt(3) == 0) steps.add(new Step(null, message(text)));
      else {
        var handledIds = random.ints(random.nextInt(3), 0, 6).mapToObj(id -> "m" + id).toList();
        var outbox = Stream.generate(() -> message(text)).limit(random.nextInt(3)).toList();
        steps.add(new Step(new StoreBackend.Turn(ACTORS.get(actor), lives.get(actor), ++numbers[actor], Instant.EPOCH,
            random.nextInt(3) == 0, text.getBytes(), handledIds, outbox), null));
      }
    }
    return steps;
  }

  private StoreBackend.PendingMessage message(String text) {
    return new StoreBackend.PendingMessage(ACTORS.get(random.nextInt(ACTORS.size())), "m" + random.nextInt(6),
        Instant.ofEpochMilli(random.nextInt(100)), ("to " + text).getBytes());
  }

  private void check(CrashDisk disk) {
    if (failure != null) return;
    try {
      disk.forEachCrashState(MAX_IMAGES, seed + images, this::checkImage);
    } catch (Throwable newFailure) {
      failure = newFailure;
    }
  }

  private void checkImage(CrashDisk image) {
    images++;
    int firstAllowed = acknowledgedIndex;
    String content;
    try (var store = StoreBackend.of(FolderStore.open(image, SMALL))) {
      content = content(store);
    }
    try (var reopened = StoreBackend.of(FolderStore.open(image, SMALL))) {
      assertEquals(content, content(reopened));
    }
    synchronized (contents) {
      assertTrue(contents.subList(firstAllowed, contents.size()).contains(content),
          () -> "acknowledged " + firstAllowed + " of " + contents.size() + ", found\n" + content + "expected one of\n"
              + String.join("\n", contents.subList(firstAllowed, contents.size())));
    }
  }
}
