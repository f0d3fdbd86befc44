package io.fibry.engine.actor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.Sink;
import io.fibry.engine.cell.ActorBehavior;
import io.fibry.engine.cell.ActorInternals;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.stereotype.Stereotypes;
import io.fibry.support.Child;
import io.fibry.support.Soak;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;

/**
 * Tests that the cell of an actor is one object of 40 bytes, and that a sink retains at most 64
 * bytes, before and after it handles messages. The sizes hold for the default flags of the JVM,
 * with compressed references and without compact headers.
 */
class LayoutTest {
  private static final int SINKS = 10_000;
  private static final int HEAP_OBJECTS = Soak.ON ? 250_000 : 40_000;
  // the size of each sink is computed with all objects that belong to it
  private static final int MEASURED_SINKS = Soak.ON ? 2_000 : 400;
  private static final long BYTES_PER_ELEMENT = 4; // the size of one reference in an array

  @Promise("11.1")
  @Test
  void cellOfActorIsOneObjectOf40Bytes() {
    assertEquals(40, size(ActorCell.class));
  }

  @Test
  void behaviorOfActorIsOneObjectOf24Bytes() {
    var cell = (ActorCell) (Actor<?>) ActorSystem.anonymous().newActor((String message) -> {});

    assertEquals(24, size(ActorInternals.behavior(cell).getClass()));
  }

  @Test
  void requestIsOneObjectOf56Bytes() {
    assertEquals(56, size(RequestFuture.class));
  }

  @Test
  void envelopeIsOneObjectOf24Bytes() {
    assertEquals(24, size(Envelope.class));
  }

  @Promise("11.1")
  @Test
  void idleSinkRetainsAtMost64Bytes() {
    double bytesPerSink = retainedBytesPerSink(sink -> {});

    assertTrue(bytesPerSink <= 64, bytesPerSink + " bytes");
  }

  @Promise("11.1")
  @Test
  void sinkThatHandledMessagesRetainsAtMost64Bytes() {
    double bytesPerSink = retainedBytesPerSink(LayoutTest::handleMessages);

    assertTrue(bytesPerSink <= 64, bytesPerSink + " bytes");
  }

  @Test
  void newSinksAreDistinctObjects() {
    var sinks = sinks(SINKS);

    var distinctSinks = Collections.newSetFromMap(new IdentityHashMap<>());
    distinctSinks.addAll(Arrays.asList(sinks));

    assertEquals(SINKS, distinctSinks.size());
  }

  /** Measures how much the heap grows, with so many actors that noise does not matter. */
  @Test
  void heapGrowsByAtMost64BytesPerSink() {
    assertGrowthPerObject(64, () -> Stereotypes.fibers().sink(null));
  }

  @Test
  void heapGrowsByAtMost48BytesPerSinkWithObject() {
    var object = new Object();
    assertGrowthPerObject(48, () -> Stereotypes.fibers().sink(object));
  }

  @Test
  void heapGrowsByAtMost48BytesPerSinkOfStatefulBuilder() {
    var builder = ActorSystem.anonymous().initialState(Object::new);
    assertGrowthPerObject(48, builder::newSink);
  }

  @Test
  void heapGrowsByAtMost80BytesPerActorOfStatefulBuilder() {
    var builder = ActorSystem.anonymous().initialState(Object::new);
    assertGrowthPerObject(80, () -> builder.newActor((Object state, String message) -> {}));
  }

  @Test
  void heapGrowsByAtMost72BytesPerActorWithReturn() {
    assertGrowthPerObject(72, () -> ActorSystem.anonymous().newActorWithReturn((Integer n) -> n + 1));
  }

  @Test
  void heapGrowsByAtMost112BytesPerActorOfScope() {
    try (var scope = Variants.scope(o -> o)) {
      assertGrowthPerObject(112, () -> scope.anonymous().newActor((String message) -> {}));
    }
  }

  /** The limit includes a name that is 56 bytes long. */
  @Test
  void heapGrowsByAtMost168BytesPerNamedActorOfScope() {
    try (var scope = Variants.scope(o -> o)) {
      var number = new AtomicInteger(100_000);
      assertGrowthPerObject(168,
          () -> scope.named("actor-" + number.incrementAndGet()).newActor((String message) -> {}));
    }
  }

  /** After work, the counts of the actor take 40 bytes more. */
  @Test
  void heapGrowsByAtMost208BytesPerNamedActorThatAnswered() {
    try (var scope = Variants.scope(o -> o)) {
      var number = new AtomicInteger(100_000);
      assertGrowthPerObject(208, () -> {
        var actor = scope.named("actor-" + number.incrementAndGet()).newActorWithReturn((Integer n) -> n + 1);
        actor.ask(1);
        return actor;
      });
    }
  }

  @Test
  void objectOfActorsNameAndMessageCountsTakes40Bytes() throws ClassNotFoundException {
    assertEquals(40, size(Class.forName("io.fibry.engine.cell.NameAndCounts")));
  }

  /**
   * The limit is the size of a timer that is both in the inbox and in the queue of the timer
   * thread.
   */
  @Test
  void heapGrowsByAtMost192BytesPerTimer() {
    try (var scope = Variants.scope(o -> o.withDeadLetterListener(letter -> {}))) {
      var actor = scope.anonymous().newActor((String message) -> {});
      assertGrowthPerObject(192, () -> actor.sendMessageLater("alarm", Duration.ofDays(1)));
    }
  }

  private static void assertGrowthPerObject(int bytes, Supplier<Object> factory) {
    for (int i = 0; i < 1_000; i++) factory.get(); // creates the objects that all results of the factory share

    long least = (16 + BYTES_PER_ELEMENT) * HEAP_OBJECTS; // each object has at least 16 bytes
    long growth = LeakProbe.growth(least + 1, (bytes + BYTES_PER_ELEMENT) * HEAP_OBJECTS, () -> {
      var objects = new Object[HEAP_OBJECTS];
      for (int i = 0; i < objects.length; i++) objects[i] = factory.get();
      return objects;
    });

    double bytesPerObject = growth / (double) HEAP_OBJECTS - BYTES_PER_ELEMENT;
    assertTrue(bytesPerObject > 16 && bytesPerObject <= bytes, bytesPerObject + " bytes");
  }

  @Soak(counterpart = "LayoutTest.heapGrowsByAtMost64BytesPerSink")
  @Test
  void tenMillionActorsAnswerInOneGigabyte() {
    try (var child = Child.java(List.of("-Xmx1g"), TenMillionActors.class)) {
      assertEquals("10000000 answered", child.awaitExit(0));
    }
  }

  static final class TenMillionActors {
    public static void main(String[] args) {
      var actors = sinks(10_000_000);
      var answers = new AtomicInteger();
      Stereotypes.fibers().runOnce(() -> {
        for (var actor : actors) answers.addAndGet(actor.ask(state -> 1));
      }).waitForExit();
      System.out.println(answers + " answered");
    }
  }

  /**
   * Returns how many bytes one more sink makes reachable. The result includes neither the objects
   * that all sinks share nor the reference to the sink in the array.
   */
  private static double retainedBytesPerSink(Consumer<Sink<Void>> handleMessages) {
    var sinks = sinks(MEASURED_SINKS);
    for (var sink : sinks) handleMessages.accept(sink);
    for (var sink : sinks) ActorInternals.awaitIdle((ActorCell) (Sink<?>) sink);

    double totalBytes = 0;
    for (var sink : sinks) totalBytes += size(ActorCell.class) + ownParts(sink);
    return totalBytes / sinks.length;
  }

  /**
   * Returns the size of all objects that can be reached from a cell. The behavior of the cell is
   * left out, because all objects of the process can be reached from it.
   */
  private static long ownParts(Object cell) {
    long bytes = 0;
    for (Class<?> type = cell.getClass(); type != Object.class; type = type.getSuperclass()) {
      for (var field : type.getDeclaredFields()) {
        if (field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers())
            || field.getType() == ActorBehavior.class)
          continue;
        Object value = valueOf(field, cell);
        if (value != null) bytes += GraphLayout.parseInstance(value).totalSize();
      }
    }
    return bytes;
  }

  private static Object valueOf(Field field, Object cell) {
    try {
      field.setAccessible(true);
      return field.get(cell);
    } catch (IllegalAccessException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static void handleMessages(Sink<Void> sink) {
    sink.execAsync(state -> {});
    sink.ask(state -> "done");
  }

  private static Sink<Void>[] sinks(int count) {
    @SuppressWarnings("unchecked") // arrays have no type arguments
    Sink<Void>[] sinks = (Sink<Void>[]) new Sink<?>[count];
    for (int i = 0; i < count; i++) sinks[i] = Stereotypes.fibers().sink(null);
    return sinks;
  }

  private static long size(Class<?> type) {
    return ClassLayout.parseClass(type).instanceSize();
  }
}
